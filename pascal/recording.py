"""From a converted network to its real spikes: the road between the torch half and the simulators."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor

from pascal.errors import PascalError
from pascal.graph import SpikingNetwork, measure
from pascal.graph.arrivals import Arrivals, record_arrivals
from pascal.hardware import LayerTrace, Trace, layer_trace, network_trace
from pascal.inference import image_batches, in_arithmetic_of, undisturbed
from pascal.workload import LayerWorkload

_MEANS = ("producer_spikes_per_neuron", "synaptic_operations", "nonzero_macs", "spikes_per_neuron")


def record(snn: SpikingNetwork, batches: Any) -> Trace:
    """The spikes that arrive at every weighted layer, with the weights rounded to INT8; `pascal.simulate` takes it.

    Any engine and neuron; one batch is in memory at a time, and what is kept of it is packed into bits.
    """
    if not isinstance(snn, SpikingNetwork):
        raise PascalError(f"snn: got {type(snn).__name__}, expected a spiking network; call pascal.convert(ann) first")
    with undisturbed(snn):
        recorded = [_record(snn, in_arithmetic_of(snn, pixels)) for pixels in image_batches(batches)]
    if not recorded:
        raise PascalError("batches: got no images, expected at least one batch")
    return network_trace(_joined(parts) for parts in zip(*recorded, strict=True))


def pack(arrivals: Iterable[Arrivals]) -> list[LayerTrace]:
    """Layers as the simulators read them."""
    return [
        layer_trace(
            layer.workload,
            layer.weights,
            layer.spikes,
            layer.active_outputs,
            timesteps=layer.timesteps,
            pool=layer.pool,
        )
        for layer in arrivals
    ]


def _record(snn: SpikingNetwork, images: Tensor) -> list[LayerTrace]:
    return pack(record_arrivals(snn, measure(snn, [images]), images))


def _joined(parts: tuple[LayerTrace, ...]) -> LayerTrace:
    """One layer over all batches."""
    for part in parts:
        if part.map_shape != parts[0].map_shape:
            shapes = f"{parts[0].map_shape} and {part.map_shape}"
            raise PascalError(f"{part.path}: inputs of shapes {shapes}; record images of one size at a time")
    spikes = [part.spikes for part in parts if part.spikes is not None]
    active = np.concatenate([part.active_outputs for part in parts])
    workload = _mean([part.workload for part in parts], [len(part.active_outputs) for part in parts])
    return replace(
        parts[0], workload=workload, spikes=np.concatenate(spikes) if spikes else None, active_outputs=active
    )


def _mean(workloads: list[LayerWorkload], images: list[int]) -> LayerWorkload:
    """Means over all images from the means over each batch."""
    means: dict[str, float | None] = {}
    for name in _MEANS:
        values = [getattr(workload, name) for workload in workloads]
        means[name] = None if values[0] is None else float(np.average(values, weights=images))
    return replace(workloads[0], **means)  # type: ignore[arg-type]
