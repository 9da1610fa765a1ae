"""How many operations each layer performs, per image: Section 4.2 and the appendix' table of MACs and ACs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from pascal.checks import check_number
from pascal.energy.layers import NeuronLayer, check_workloads, neuron_layers
from pascal.errors import PascalError
from pascal.workload import LayerWorkload

Neuron = Literal["pasc", "if"]


@dataclass(frozen=True)
class NeuronOperations:
    """What one IF neuron does for one image."""

    resets: int
    counter_updates: int = 0

    @property
    def total(self) -> int:
        """All operations, each worth one addition."""
        return self.resets + self.counter_updates


@dataclass(frozen=True)
class LayerOperations:
    """What one layer does for one image."""

    path: str
    macs: float = 0.0
    acs: float = 0.0
    scaling_multiplies: float = 0.0
    residual_additions: float = 0.0
    pool_operations: float = 0.0
    resets: float = 0.0
    counter_updates: float = 0.0
    activation_functions: float = 0.0  # evaluations of QCFS in the ANN


def neuron_operations(timesteps: int | None, levels: int, neuron: Neuron = "pasc") -> NeuronOperations:
    """PASC: L_{n−1} + max(L_{n−1}, L_n) − 1 + L_n resets, the counter updated in all but the last L_n; plain IF: L_n.

    Without timesteps the neuron sees pixels and follows Algorithm 2: one evaluation, then L_n resets.
    """
    if neuron == "if":
        return NeuronOperations(levels)
    if neuron != "pasc":
        raise PascalError(f"neuron: got {neuron!r}, expected 'pasc' or 'if'")
    if timesteps is None:
        return NeuronOperations(1 + levels)
    counted = timesteps + max(timesteps, levels) - 1
    return NeuronOperations(counted + levels, counted)


def snn_operations(
    workloads: Sequence[LayerWorkload],
    neuron: Neuron = "pasc",
    spikes_per_neuron: float | None = None,
) -> list[LayerOperations]:
    """Operations of the SNN; without an assumed `spikes_per_neuron`, the measured ones.

    ACs = MACs × SpikeRate; scaling by the threshold: C_o·H_o·W_o × SpikeRate multiplies; both at the layer's own input.
    """
    workloads = check_workloads(workloads)
    neurons = {layer.activation: layer for layer in neuron_layers(workloads)}
    return [_snn_layer(workload, neurons, neuron, spikes_per_neuron) for workload in workloads]


def ann_operations(workloads: Sequence[LayerWorkload], skip_zeros: bool = False) -> list[LayerOperations]:
    """Operations of the source ANN, which may skip the MACs whose input is zero."""
    return [
        LayerOperations(
            path=workload.path,
            macs=_measured(workload, "nonzero_macs") if skip_zeros else workload.macs,
            residual_additions=workload.additions,
            pool_operations=workload.pool_operations,
            activation_functions=workload.neurons,
        )
        for workload in check_workloads(workloads)
    ]


def synaptic_operations(workload: LayerWorkload, spikes_per_neuron: float | None = None) -> float:
    """ACs of one layer: measured (input spikes × true fan-out), or MACs × an assumed rate; none without spikes."""
    if multiplies(workload):
        return 0.0
    if spikes_per_neuron is None:
        return _measured(workload, "synaptic_operations")
    return workload.macs * check_rate(spikes_per_neuron)


def multiplies(workload: LayerWorkload) -> bool:
    """Whether the layer of the SNN does MACs: pixels or graded currents arrive, not spikes."""
    return workload.is_input or workload.graded_input


def check_rate(spikes_per_neuron: float) -> float:
    """The assumed SpikeRate, if a network with it spikes at all."""
    return check_number(spikes_per_neuron, "spikes_per_neuron", above=0)


def output_elements(workload: LayerWorkload) -> int:
    """C_o · H_o · W_o."""
    return prod(workload.output_shape)


def _snn_layer(
    workload: LayerWorkload, neurons: dict[str, NeuronLayer], neuron: Neuron, spikes_per_neuron: float | None
) -> LayerOperations:
    layer = neurons.get(str(workload.activation))
    owned = neuron_operations(layer.timesteps, layer.levels, neuron) if layer else NeuronOperations(0)
    return LayerOperations(
        path=workload.path,
        macs=workload.macs * workload.timesteps if multiplies(workload) else 0,
        acs=synaptic_operations(workload, spikes_per_neuron),
        scaling_multiplies=_scaling_multiplies(workload, spikes_per_neuron),
        residual_additions=workload.additions * ((layer and layer.timesteps) or 1),
        pool_operations=workload.pool_operations * workload.timesteps,
        resets=workload.neurons * owned.resets,
        counter_updates=workload.neurons * owned.counter_updates,
    )


def _scaling_multiplies(workload: LayerWorkload, spikes_per_neuron: float | None) -> float:
    if multiplies(workload):
        return 0.0
    rate = _measured(workload, "producer_spikes_per_neuron") if spikes_per_neuron is None else spikes_per_neuron
    return output_elements(workload) * rate


def _measured(workload: LayerWorkload, field: str) -> float:
    value = getattr(workload, field)
    if value is None:
        raise PascalError(f"layer {workload.path!r}: {field} was not measured; run stage workload, or assume a rate")
    return float(value)
