"""Energy per image, by layer and by component: E_SNN = E_AC + E_IF, and that of the ANN it came from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pascal.energy.costs import EnergyCosts
from pascal.energy.layers import check_workloads
from pascal.energy.memory import Traffic, activation_bits, ann_traffic, snn_traffic
from pascal.energy.operations import LayerOperations, Neuron, ann_operations, snn_operations
from pascal.errors import PascalError
from pascal.workload import LayerWorkload


@dataclass(frozen=True)
class LayerEnergy:
    """Energy of one layer for one image; memory is zero where it is left out."""

    path: str
    synaptic_pj: float  # MACs and ACs
    scaling_pj: float
    residual_pj: float
    pooling_pj: float
    neuron_pj: float  # E_IF, or QCFS in the ANN
    memory_pj: float

    @property
    def matmul_pj(self) -> float:
        """E_AC: everything that happens before the neurons."""
        return self.synaptic_pj + self.scaling_pj + self.residual_pj + self.pooling_pj

    @property
    def total_pj(self) -> float:
        """E_AC + E_IF, and memory if it is in."""
        return self.matmul_pj + self.neuron_pj + self.memory_pj


def snn_energy(
    workloads: Sequence[LayerWorkload],
    costs: EnergyCosts,
    neuron: Neuron = "pasc",
    spikes_per_neuron: float | None = None,
    memory: bool = False,
) -> list[LayerEnergy]:
    """E_SNN of each layer; spikes as measured unless a rate is assumed."""
    workloads = check_workloads(workloads)
    operations = snn_operations(workloads, neuron, spikes_per_neuron)
    if not any(layer.acs for layer in operations):
        raise PascalError("workloads: the network does not spike, so its energy means nothing; check its thresholds")
    traffic = snn_traffic(workloads, operations, costs.bits) if memory else [Traffic()] * len(workloads)
    return [_price(done, moved, costs) for done, moved in zip(operations, traffic, strict=True)]


def ann_energy(
    workloads: Sequence[LayerWorkload],
    costs: EnergyCosts,
    skip_zeros: bool = False,
    low_bits: bool = False,
    memory: bool = False,
) -> list[LayerEnergy]:
    """Energy of each layer of the ANN, which may skip zeros and may carry activations in ⌈log₂(L+1)⌉ bits."""
    workloads = check_workloads(workloads)
    operations = ann_operations(workloads, skip_zeros)
    traffic = ann_traffic(workloads, operations, costs.bits, low_bits) if memory else [Traffic()] * len(workloads)
    bits = [activation_bits(workload.producer_levels, costs.bits, low_bits) for workload in workloads]
    return [_price(*layer[:2], costs, layer[2]) for layer in zip(operations, traffic, bits, strict=True)]


def total_pj(energies: Iterable[LayerEnergy]) -> float:
    """Energy of the whole network for one image."""
    return sum(layer.total_pj for layer in energies)


def energy_overhead(pasc: Sequence[LayerEnergy], plain: Sequence[LayerEnergy]) -> dict[str, float]:
    """r_E = E_PASC_SNN / E_SNN of each layer, from operations counted one by one; a layer that rests adds nothing."""
    return {ours.path: _ratio(ours.total_pj, theirs.total_pj) for ours, theirs in zip(pasc, plain, strict=True)}


def _ratio(ours_pj: float, theirs_pj: float) -> float:
    return ours_pj / theirs_pj if theirs_pj else 1.0


def _price(done: LayerOperations, moved: Traffic, costs: EnergyCosts, bits: int | None = None) -> LayerEnergy:
    return LayerEnergy(
        path=done.path,
        synaptic_pj=done.macs * costs.mac_pj(bits) + done.acs * costs.add_pj,
        scaling_pj=done.scaling_multiplies * costs.multiply_pj,
        residual_pj=done.residual_additions * costs.add_pj,
        pooling_pj=done.pool_operations * costs.add_pj,
        neuron_pj=(done.resets + done.counter_updates) * costs.add_pj + done.activation_functions * costs.mac_pj(),
        memory_pj=moved.read_bytes * costs.read_pj_per_byte + moved.written_bytes * costs.write_pj_per_byte,
    )
