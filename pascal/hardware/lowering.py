"""Lowering: spikes and weights of a layer as rows of bitmasks, one word or more per chunk of K (im2col, packed)."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pascal.accelerators.accelerator import Accelerator
from pascal.hardware.geometry import Geometry, geometry_of
from pascal.hardware.trace import LayerTrace


class Lowering(NamedTuple):
    """The choices of an accelerator on which the masks depend; machines that share them share the masks."""

    chunk: int
    k_order: str
    average_pool: str

    @classmethod
    def of(cls, accelerator: Accelerator) -> "Lowering":
        """Those of one accelerator."""
        return cls(accelerator.chunk, accelerator.k_order, accelerator.average_pool)


@dataclass(frozen=True, eq=False)
class Filters:
    """The weights of one layer: which are not zero. Static, shared by all images."""

    masks: NDArray  # uint64 (N, chunks, words)
    columns: int  # K
    chunk: int
    fan_out: NDArray  # int64 (groups, K): filters that read each column

    @property
    def groups(self) -> int:
        """Groups of the convolution."""
        return len(self.fan_out)

    @cached_property
    def positions(self) -> NDArray:
        """Columns in each chunk: the last one may be short."""
        starts = np.arange(self.masks.shape[1]) * self.chunk
        return np.minimum(self.chunk, self.columns - starts)


@dataclass(frozen=True, eq=False)
class Activations:
    """The input of one layer for one image: which neurons are not silent, and how often the columns spike."""

    masks: NDArray  # uint64 (groups, M, chunks, words)
    column_spikes: NDArray  # int64 (groups, K): spikes summed over rows
    active_outputs: float


def lower_filters(layer: LayerTrace, lowering: Lowering) -> Filters:
    """Pack the non-zero mask of the weights, K in the chosen order."""
    geometry = _geometry(layer, lowering)
    small = geometry_of(layer.workload, layer.map_shape, layer.pool, expand=False)
    mask = (layer.weights != 0).reshape(small.filters, -1, *small.kernel)
    mask = mask.repeat(geometry.kernel[0] // small.kernel[0], 2).repeat(geometry.kernel[1] // small.kernel[1], 3)
    if lowering.k_order == "pixmajor":
        mask = mask.transpose(0, 2, 3, 1)
    return pack_filters(mask.reshape(small.filters, -1), lowering.chunk, geometry.groups)


def pack_filters(mask: NDArray, chunk: int, groups: int) -> Filters:
    """Shape: bool (N, K) → masks uint64 (N, chunks, words)."""
    fan_out = mask.reshape(groups, -1, mask.shape[1]).sum(1, dtype=np.int64)
    return Filters(pack_rows(mask, chunk), mask.shape[1], chunk, fan_out)


def lower_activations(layer: LayerTrace, image: int, lowering: Lowering) -> Activations:
    """Pack the mask of one image's input; pixels count as never zero, on padding too."""
    geometry = _geometry(layer, lowering)
    spikes = layer.spikes_of(image)
    if spikes is None:
        packed = pixel_masks(geometry.groups, geometry.rows, geometry.columns, lowering.chunk)
    else:
        counts = _counts(layer, spikes.reshape(len(spikes), *(layer.map_shape[1:] or (1, 1))), lowering)
        packed = _pack_counts(counts, geometry, lowering)
    return Activations(*packed, float(layer.active_outputs[image]))


def _pack_counts(counts: NDArray, geometry: Geometry, lowering: Lowering) -> tuple[NDArray, NDArray]:
    """Shape: (C, H, W) → masks uint64 (groups, M, chunks, words), column sums (groups, K)."""
    (down, right), (high, wide) = geometry.padding, geometry.output
    padded = np.pad(counts, ((0, 0), (down, down), (right, right)))
    starts = np.add.outer(np.arange(high) * geometry.stride[0] * padded.shape[2], np.arange(wide) * geometry.stride[1])
    offsets = geometry.offsets(lowering.k_order, padded.shape)
    slots, bits = _slots(geometry.columns, lowering.chunk)
    chunks, words = chunk_shape(geometry.columns, lowering.chunk)
    masks = np.zeros((geometry.groups, geometry.rows, chunks * words), np.uint64)
    column_spikes = np.zeros((geometry.groups, geometry.columns), np.int64)
    _pack_map(padded.reshape(geometry.groups, -1), starts.reshape(-1), offsets, slots, bits, masks, column_spikes)
    return masks.reshape(geometry.groups, geometry.rows, chunks, words), column_spikes


def pixel_masks(groups: int, rows: int, columns: int, chunk: int) -> tuple[NDArray, NDArray]:
    """Masks and column sums of an input that is never zero."""
    row = pack_rows(np.ones((1, columns), bool), chunk)
    return np.tile(row, (groups, rows, 1, 1)), np.full((groups, columns), rows, np.int64)


def chunk_shape(columns: int, chunk: int) -> tuple[int, int]:
    """Chunks of K, and 64-bit words of each."""
    return -(-columns // chunk), -(-chunk // 64)


def pack_rows(mask: NDArray, chunk: int) -> NDArray:
    """Shape: bool (rows, K) → uint64 (rows, chunks, words); the last chunk is padded with zeros."""
    rows, columns = mask.shape
    chunks, words = chunk_shape(columns, chunk)
    padded = np.zeros((rows, chunks * chunk), bool)
    padded[:, :columns] = mask
    bits = np.zeros((rows, chunks, words * 64), bool)
    bits[:, :, :chunk] = padded.reshape(rows, chunks, chunk)
    return np.packbits(bits, axis=-1, bitorder="little").view("<u8")


def _geometry(layer: LayerTrace, lowering: Lowering) -> Geometry:
    return geometry_of(layer.workload, layer.map_shape, layer.pool, lowering.average_pool == "expand")


def _counts(layer: LayerTrace, spikes: NDArray, lowering: Lowering) -> NDArray:
    """Spikes per neuron; an `ideal` average pool hands on the joined word of its window."""
    if layer.pool != (1, 1) and lowering.average_pool == "ideal":
        channels, height, width = spikes.shape
        down, right = layer.pool
        windows = spikes.reshape(channels, height // down, down, width // right, right)
        spikes = np.bitwise_or.reduce(windows, (2, 4)) if layer.words else windows.max((2, 4))
    return np.bitwise_count(spikes) if layer.words else spikes


def _slots(columns: int, chunk: int) -> tuple[NDArray, NDArray]:
    """Word within a row, and bit within the word, of each column."""
    chunks, places = np.divmod(np.arange(columns), chunk)
    words, bits = np.divmod(places, 64)
    return chunks * chunk_shape(columns, chunk)[1] + words, np.uint64(1) << bits.astype(np.uint64)


@njit(nogil=True, cache=True)
def _pack_map(counts, starts, offsets, slots, bits, masks, column_spikes):  # type: ignore[no-untyped-def]
    """Row i and column k read the flat map at starts[i] + offsets[k]."""
    for group in range(len(masks)):
        for row in range(len(starts)):
            for k in range(len(offsets)):
                count = counts[group, starts[row] + offsets[k]]
                if count:
                    masks[group, row, slots[k]] |= bits[k]
                    column_spikes[group, k] += count
