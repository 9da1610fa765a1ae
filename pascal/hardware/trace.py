"""What the simulators need of real images: per layer the spikes that arrive and the INT8 weights that meet them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pascal.errors import PascalError
from pascal.hardware.bitplanes import bits_of, pack_planes, unpack_planes
from pascal.workload import LayerWorkload

Neuron = Literal["pasc", "if"]


@dataclass(frozen=True, eq=False)
class LayerTrace:
    """One layer: its shapes, its weights and, packed into bit planes, the spikes at its input.

    A PASC train is earliest-first, so its count is the whole train; a plain IF train is a word, bit t = spike at t.
    With average pooling before the layer the spikes are those of the unpooled map and `pool` is the window.
    """

    workload: LayerWorkload
    weights: NDArray  # int8, or bool: which are non-zero; (N, C/groups, K_h, K_w) or (N, C)
    spikes: NDArray | None  # uint8 (images, bits, bytes); None: pixels or graded currents
    map_shape: tuple[int, ...]  # (C, H, W) or (C,) of `spikes`
    words: bool  # spikes are words, not counts
    active_outputs: NDArray  # (images,): output neurons that spike at all
    pool: tuple[int, int] = (1, 1)

    @property
    def path(self) -> str:
        """The layer's path in the network."""
        return self.workload.path

    def spikes_of(self, image: int) -> NDArray | None:
        """Counts or words of one image, in the map's shape."""
        if self.spikes is None:
            return None
        return unpack_planes(self.spikes[image], int(np.prod(self.map_shape))).reshape(self.map_shape)


@dataclass(frozen=True, eq=False)
class Trace:
    """All weighted layers of one network in forward order, over the same images."""

    layers: tuple[LayerTrace, ...]
    neuron: Neuron
    images: int

    @property
    def workloads(self) -> tuple[LayerWorkload, ...]:
        """The layers' shapes and levels."""
        return tuple(layer.workload for layer in self.layers)


def layer_trace(
    workload: LayerWorkload,
    weights: NDArray,
    spikes: NDArray | None,
    active_outputs: NDArray | Sequence[int],
    *,
    timesteps: int | None = None,
    pool: tuple[int, int] = (1, 1),
) -> LayerTrace:
    """Check and pack one layer.

    PASC and QCFS: `spikes` are counts (images, *map) of 0..L_{n−1}. Plain IF: `timesteps` is T and `spikes` are words.
    The map is the layer's own input, after max pooling (counts: their maximum; words: their OR); with `pool`, the map
    before average pooling. Pixels and graded currents: None. `active_outputs` (images,) may be 0 without neurons.
    """
    _check_weights(workload, weights)
    if timesteps is not None:
        workload = replace(
            workload,
            producer_levels=None if workload.is_input else timesteps,
            levels=None if workload.levels is None else timesteps,
        )
    active = np.asarray(active_outputs, dtype=np.int64)
    packed, map_shape = None, workload.input_shape
    if reads_spikes(workload):
        spikes = _check_spikes(workload, spikes, len(active), words=timesteps is not None)
        map_shape = spikes.shape[1:]
        packed = pack_planes(spikes.reshape(len(spikes), -1), _bits(workload, timesteps is not None))
    return LayerTrace(workload, weights, packed, map_shape, timesteps is not None, active, pool)


def reads_spikes(workload: LayerWorkload) -> bool:
    """Whether trains arrive; pixels and graded currents are multiplied and never taken as zero."""
    return not (workload.is_input or workload.graded_input)


def own_levels(workload: LayerWorkload) -> int | None:
    """L_n of the neurons that the layer owns; a readout and a shortcut's projection own none."""
    return workload.levels if workload.is_main_path else None


def network_trace(layers: Iterable[LayerTrace]) -> Trace:
    """Join the layers, refusing an empty trace and layers that saw different images or neurons."""
    layers = tuple(layers)
    if not layers:
        raise PascalError("trace: got no layers, expected at least one; rerun stage workload")
    images = len(layers[0].active_outputs)
    if images == 0:
        raise PascalError("trace: got no images, expected at least one; rerun stage workload")
    paths = [layer.path for layer in layers]
    if repeated := sorted({path for path in paths if paths.count(path) > 1}):
        raise PascalError(f"trace: layers {repeated} appear more than once; each layer is recorded once")
    for layer in layers:
        if len(layer.active_outputs) != images or layer.words != layers[0].words:
            raise PascalError(f"{layer.path}: recorded with other images or another neuron than {layers[0].path}")
    return Trace(layers, "if" if layers[0].words else "pasc", images)


def check_trace(trace: Trace, workloads: Sequence[LayerWorkload]) -> None:
    """Refuse a trace of another network: layers, shapes and levels must agree."""
    recorded = {layer.path: layer.workload for layer in trace.layers}
    expected = {workload.path: workload for workload in workloads}
    if differing := sorted(recorded.keys() ^ expected.keys()):
        raise PascalError(f"trace and network disagree on layers {differing}; rerun stage workload")
    names = ["kind", "input_shape", "output_shape", "kernel", "stride", "padding", "dilation", "groups"]
    names += [] if trace.neuron == "if" else ["producer_levels", "levels"]
    for path, workload in expected.items():
        for name in names:
            seen, wanted = getattr(recorded[path], name), getattr(workload, name)
            if seen != wanted:
                raise PascalError(
                    f"trace and network disagree on {path}: {name} is {seen} and {wanted}; rerun stage workload"
                )


def _bits(workload: LayerWorkload, words: bool) -> int:
    return workload.timesteps if words else bits_of(workload.timesteps)


def _check_weights(workload: LayerWorkload, weights: NDArray) -> None:
    channels = workload.input_shape[0] // workload.groups
    expected = (workload.output_shape[0], channels, *workload.kernel)
    if weights.dtype not in (np.int8, np.bool_) or weights.shape != expected:
        raise PascalError(
            f"{workload.path}: weights are {weights.dtype} {weights.shape}, expected int8 or bool {expected}"
        )


def _check_spikes(workload: LayerWorkload, spikes: NDArray | None, images: int, words: bool) -> NDArray:
    path, bits = workload.path, _bits(workload, words)
    if spikes is None or not np.issubdtype(spikes.dtype, np.unsignedinteger):
        kind = "nothing" if spikes is None else spikes.dtype
        raise PascalError(f"{path}: spikes are {kind}, expected unsigned integers of the images")
    if bits > 8 * spikes.dtype.itemsize:
        raise PascalError(f"{path}: {spikes.dtype} cannot hold {bits} bits per neuron; use a wider integer")
    largest = (1 << bits) - 1 if words else workload.timesteps
    if len(spikes) != images or int(spikes.max(initial=0)) > largest:
        raise PascalError(
            f"{path}: {len(spikes)} images with spikes up to {spikes.max(initial=0)}, "
            f"expected {images} images and at most {largest}; trace and network disagree"
        )
    return spikes
