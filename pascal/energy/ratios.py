"""The paper's ratios: PASC against the vanilla SNN (r', r_E), and the ANN against the SNN (Section 4.2)."""

from collections.abc import Iterable, Sequence
from math import fsum

from pascal.energy.costs import EnergyCosts
from pascal.energy.layers import Levels, NeuronLayer, check_workloads, neuron_layers, spiking_layers
from pascal.energy.operations import check_rate, multiplies, neuron_operations, snn_operations, synaptic_operations
from pascal.errors import PascalError
from pascal.workload import LayerWorkload

Rate = float | str | None  # SpikeRate of every layer, or None (also "measured") for the measured one of each


def operation_ratio(fan_in: int, spikes_per_neuron: float) -> float:
    """r' = 1 / (C_i · K_h · K_w · SpikeRate): operations of the neurons over those of the MatMul before them."""
    _check_ratio(fan_in, 1, spikes_per_neuron)
    return 1 / (fan_in * spikes_per_neuron) if spikes_per_neuron else float("inf")


def energy_ratio(fan_in: int, levels: int, spikes_per_neuron: float, operations: int | None = None) -> float:
    """r_E = (1 + (5L−2)·r') / (1 + L·r'), multiplied out by 1/r' so that a silent layer has one too.

    `operations` replaces 5L−2 where L_{n−1} and L_n differ.
    """
    _check_ratio(fan_in, levels, spikes_per_neuron)
    matmul = fan_in * spikes_per_neuron
    return (matmul + (5 * levels - 2 if operations is None else operations)) / (matmul + levels)


def _check_ratio(fan_in: float, levels: float, spikes_per_neuron: float) -> None:
    for name, value, holds in (
        ("fan_in", fan_in, fan_in >= 1),
        ("levels", levels, levels >= 1),
        ("spikes_per_neuron", spikes_per_neuron, 0 <= spikes_per_neuron < float("inf")),
    ):
        if not holds:
            raise PascalError(f"{name}: got {value!r}, expected a number {'>= 0' if name[0] == 's' else '>= 1'}")


def layer_energy_ratios(
    workloads: Sequence[LayerWorkload], levels: Levels = None, spikes_per_neuron: Rate = 0.75, counted: bool = False
) -> dict[str, float]:
    """r_E of each activation by the paper's formula, or with PASC's operations `counted` for its L_{n−1} and L_n."""
    layers = neuron_layers(workloads, levels)
    rates = layer_rates(layers, spikes_per_neuron)
    return {
        layer.activation: energy_ratio(layer.fan_in, layer.levels, rate, _operations(layer) if counted else None)
        for layer, rate in zip(layers, rates, strict=True)
    }


def network_energy_ratio(
    workloads: Sequence[LayerWorkload], levels: Levels = None, spikes_per_neuron: float = 0.75, counted: bool = False
) -> float:
    """r_E = E_PASC_SNN / E_SNN of the whole network in operations, all MatMuls at one SpikeRate."""
    workloads = check_workloads(workloads)
    layers = neuron_layers(workloads, levels)
    matmul = check_rate(spikes_per_neuron) * sum(workload.macs for workload in workloads)
    pasc = sum(layer.neurons * (_operations(layer) if counted else 5 * layer.levels - 2) for layer in layers)
    plain = sum(layer.neurons * layer.levels for layer in layers)
    return (matmul + pasc) / (matmul + plain)


def layer_rates(layers: Iterable[NeuronLayer], spikes_per_neuron: Rate) -> list[float]:
    """SpikeRate of each layer: one assumption for all, or what was measured."""
    layers = list(layers)
    if spikes_per_neuron is None or spikes_per_neuron == "measured":
        return _spiking([_measured(layer.activation, layer.spikes_per_neuron) for layer in layers])
    if isinstance(spikes_per_neuron, str):
        raise PascalError(f"spikes_per_neuron: got {spikes_per_neuron!r}, expected a number or 'measured'")
    return [check_rate(spikes_per_neuron)] * len(layers)


def total_macs(workloads: Iterable[LayerWorkload]) -> int:
    """#OP_ANN."""
    return sum(workload.macs for workload in check_workloads(workloads))


def first_layer_share(workloads: Sequence[LayerWorkload]) -> float:
    """c: the share of all operations that the layers make which read pixels."""
    return sum(workload.macs for workload in workloads if workload.is_input) / total_macs(workloads)


def mean_spikes_per_neuron(workloads: Iterable[LayerWorkload]) -> float:
    """b by the paper: the unweighted mean of SpikeRate over layers."""
    owners = spiking_layers(workloads)
    rates = _spiking([_measured(str(owner.activation), owner.spikes_per_neuron) for owner in owners])
    return fsum(rates) / len(rates)


def mean_synaptic_operations(workloads: Sequence[LayerWorkload]) -> float:
    """b exactly: ACs per MAC over all layers that receive spikes, each at its own input rate and true fan-out."""
    spiking = [workload for workload in check_workloads(workloads) if not multiplies(workload)]
    if not spiking:
        raise PascalError("workloads: no layer receives spikes; an SNN needs at least two layers")
    return fsum(_spiking([synaptic_operations(workload) for workload in spiking])) / total_macs(spiking)


def ann_snn_ratio(b: float, c: float, costs: EnergyCosts) -> float:
    """Energy_ANN / Energy_SNN = a·E_MAC / (c·E_MAC + (1−c)·b·E_AC), where a = 1: the paper's formula."""
    return costs.mac_pj() / (c * costs.mac_pj() + (1 - c) * b * costs.add_pj)


def synaptic_ratio(workloads: Sequence[LayerWorkload], costs: EnergyCosts) -> float:
    """Energy_ANN / Energy_SNN from exact MACs and ACs, layer by layer, neurons left out as in the paper's formula."""
    layers = snn_operations(workloads)
    acs = fsum(_spiking([layer.acs for layer in layers]))
    macs = fsum(layer.macs for layer in layers)
    return total_macs(workloads) * costs.mac_pj() / (macs * costs.mac_pj() + acs * costs.add_pj)


def _operations(layer: NeuronLayer) -> int:
    return neuron_operations(layer.timesteps, layer.levels).total


def _measured(activation: str, rate: float | None) -> float:
    if rate is None:
        raise PascalError(f"activation {activation!r}: spikes_per_neuron was not measured; run stage workload")
    return rate


def _spiking(counts: list[float]) -> list[float]:
    if not any(counts):
        raise PascalError("workloads: the network does not spike; check its thresholds")
    return counts
