"""Random masks for a network without recorded spikes: Bernoulli at each layer's recorded densities."""

from collections.abc import Sequence

import numpy as np

from pascal.errors import PascalError
from pascal.hardware.lowering import Activations, Filters, Lowering, pack_filters, pack_rows, pixel_masks
from pascal.hardware.trace import reads_spikes
from pascal.workload import LayerWorkload


class SyntheticSource:
    """Spikes and weights drawn independently, on the lowered matrices; the same seed gives the same masks.

    Density of activations: `nonzero_macs / macs`; spikes of an active one: `synaptic_operations / nonzero_macs`.
    """

    synthetic = True

    def __init__(self, workloads: Sequence[LayerWorkload], weight_density: float, seed: int, images: int) -> None:
        if not workloads:
            raise PascalError("workloads: got no layers, expected at least one; rerun stage workload")
        if not 0 <= weight_density <= 1:
            raise PascalError(f"weight_density: got {weight_density!r}, expected a number from 0 to 1")
        if images < 1:
            raise PascalError(f"images: got {images!r}, expected a whole number >= 1")
        self.workloads = tuple(workloads)
        self.images = images
        self._weight_density = weight_density
        self._seed = seed
        self._output_density = _output_densities(self.workloads)

    def filters(self, layer: int, lowering: Lowering) -> Filters:
        """Random weight masks of one layer."""
        workload = self.workloads[layer]
        shape = (workload.output_shape[0], workload.fan_in)
        mask = self._generator(layer, 0).random(shape, np.float32) < self._weight_density
        return pack_filters(mask, lowering.chunk, workload.groups)

    def activations(self, layer: int, image: int, lowering: Lowering) -> Activations:
        """Random activation masks of one layer and image."""
        workload = self.workloads[layer]
        rows, columns, groups = int(np.prod(workload.output_shape[1:])), workload.fan_in, workload.groups
        active_outputs = workload.neurons * self._output_density[layer]
        if not reads_spikes(workload):
            return Activations(*pixel_masks(groups, rows, columns, lowering.chunk), active_outputs)
        generator = self._generator(layer, 1 + image)
        mask = generator.random((groups * rows, columns), np.float32) < _density(workload)
        masks = pack_rows(mask, lowering.chunk)
        spiking = mask.reshape(groups, rows, columns).sum(1, dtype=np.int64)
        # A sum of `spiking` independent counts 1 + Binomial(L−1, p), whose mean is the recorded one.
        more = generator.binomial(spiking * (workload.timesteps - 1), _chance_of_more(workload))
        return Activations(masks.reshape(groups, rows, *masks.shape[1:]), spiking + more, active_outputs)

    def check_neuron(self, neuron: str) -> None:
        """Random masks serve every neuron."""

    def _generator(self, layer: int, draw: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, layer, draw])


def _density(workload: LayerWorkload) -> float:
    if workload.nonzero_macs is None or not 0 <= workload.nonzero_macs <= workload.macs:
        raise PascalError(
            f"{workload.path}: nonzero_macs is {workload.nonzero_macs}, expected 0 to {workload.macs}; "
            "measure the workload on images, or simulate a trace"
        )
    return workload.nonzero_macs / max(workload.macs, 1)


def _chance_of_more(workload: LayerWorkload) -> float:
    if not workload.nonzero_macs or workload.synaptic_operations is None or workload.timesteps == 1:
        return 0.0
    mean = workload.synaptic_operations / workload.nonzero_macs
    return float(np.clip((mean - 1) / (workload.timesteps - 1), 0, 1))


def _output_densities(workloads: Sequence[LayerWorkload]) -> list[float]:
    """Share of a layer's neurons that spike: the density at its first consumer, or its mean count, at most one."""
    consumers = {producer: w for w in reversed(workloads) for producer in w.producers}
    densities = []
    for workload in workloads:
        consumer = consumers.get(workload.activation or "")
        densities.append(_density(consumer) if consumer else min(1.0, workload.spikes_per_neuron or 0.0))
    return densities
