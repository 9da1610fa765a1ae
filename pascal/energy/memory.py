"""How many bytes each layer moves, per image, between its datapath and on-chip memory.

Both networks keep a sum in a register while they compute it. Each MAC or AC fetches its weight and its input: an
activation, or the one bit of a spike. Outputs are written once; an SNN also keeps its membranes between timesteps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pascal.energy.layers import neuron_layers
from pascal.energy.operations import LayerOperations, output_elements
from pascal.workload import LayerWorkload


@dataclass(frozen=True)
class Traffic:
    """Bytes that one layer moves."""

    read_bytes: float = 0.0
    written_bytes: float = 0.0


def activation_bits(levels: int | None, bits: int, low_bits: bool) -> int:
    """⌈log₂(L+1)⌉ bits hold a count of 0..L; pixels, sums and the ordinary ANN's activations keep full precision."""
    return min(levels.bit_length(), bits) if low_bits and levels else bits


def ann_traffic(
    workloads: Sequence[LayerWorkload], operations: Sequence[LayerOperations], bits: int, low_bits: bool = False
) -> list[Traffic]:
    """Traffic of the ANN with weights of so many bits."""
    return [
        Traffic(
            read_bytes=done.macs * (bits + activation_bits(workload.producer_levels, bits, low_bits)) / 8,
            written_bytes=output_elements(workload) * activation_bits(_own_levels(workload), bits, low_bits) / 8,
        )
        for workload, done in zip(workloads, operations, strict=True)
    ]


def snn_traffic(workloads: Sequence[LayerWorkload], operations: Sequence[LayerOperations], bits: int) -> list[Traffic]:
    """Traffic of the SNN with weights and membranes of so many bits."""
    timesteps = {layer.activation: layer.timesteps or 0 for layer in neuron_layers(workloads)}
    return [
        _snn_layer(workload, done, bits, timesteps.get(str(workload.activation), workload.timesteps))
        for workload, done in zip(workloads, operations, strict=True)
    ]


def _snn_layer(workload: LayerWorkload, done: LayerOperations, bits: int, timesteps: int) -> Traffic:
    # A projection adds into the membranes of the layer that owns them; the readout keeps sums of its own.
    sums = output_elements(workload) if workload.is_readout else workload.neurons
    membrane_bytes = sums * timesteps * bits / 8
    spike_bytes = workload.neurons * (_own_levels(workload) or 0) / 8
    fetched_bytes = (done.macs * 2 * bits + done.acs * (bits + 1)) / 8
    return Traffic(read_bytes=fetched_bytes + membrane_bytes, written_bytes=spike_bytes + membrane_bytes)


def _own_levels(workload: LayerWorkload) -> int | None:
    return workload.levels if workload.is_main_path else None
