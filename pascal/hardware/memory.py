"""Memory: which tiles miss in the cache, the bytes of every level, and the cycles that the PEs wait for them."""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pascal.accelerators.accelerator import Accelerator
from pascal.hardware.lowering import Activations, Filters
from pascal.hardware.tiling import Tiling


@dataclass(frozen=True, eq=False)
class MemoryPlan:
    """What of a layer's traffic depends on no image. Visits are (lane tiles, serial tiles, chunks), in that order."""

    activation_tile: NDArray  # visit → tile of activations, numbered (row tile, group, chunk)
    activation_misses: NDArray  # bool per visit
    activation_mask_bits: NDArray  # per tile of activations
    weight_bits: NDArray  # per visit
    fetched_weight_bits: NDArray  # per visit, a batch's share of the misses
    row_starts: NDArray


@dataclass(frozen=True)
class Traffic:
    """Bits moved by one layer for one image, and the cycles during which the PEs wait."""

    dram_read_bits: float
    dram_write_bits: float
    sram_read_bits: float
    sram_write_bits: float
    stall_cycles: int


NO_TRAFFIC = Traffic(0, 0, 0, 0, 0)


def plan_memory(accelerator: Accelerator, tiling: Tiling, filters: Filters) -> MemoryPlan:
    """Walk the tiles once: their numbers, their misses and the bits of the weights."""
    rows, of_filters = np.bincount(tiling.rows[0]), np.bincount(tiling.filters[0])
    activation_tile, weight_tile = _visits(tiling, filters, len(rows), len(of_filters))

    def misses(tile: NDArray, entries: int, largest: int) -> NDArray:
        return tile_misses(tile, entries // (largest * accelerator.chunk), accelerator.replacement)

    nonzero = np.zeros((len(of_filters), len(filters.positions)), np.int64)
    np.add.at(nonzero, tiling.filters[0], np.bitwise_count(filters.masks).sum(-1, dtype=np.int64))
    bits = (nonzero * accelerator.weight_bits + of_filters[:, None] * filters.positions).reshape(-1)[weight_tile]
    fetched = bits * misses(weight_tile, accelerator.weight_entries, int(of_filters.max())) / accelerator.batch
    return MemoryPlan(
        activation_tile=activation_tile,
        activation_misses=misses(activation_tile, accelerator.activation_entries, int(rows.max())),
        activation_mask_bits=(np.repeat(rows, filters.groups)[:, None] * filters.positions).reshape(-1),
        weight_bits=bits,
        fetched_weight_bits=fetched,
        row_starts=np.cumsum(rows) - rows,
    )


def _visits(tiling: Tiling, filters: Filters, row_tiles: int, filter_tiles: int) -> tuple[NDArray, NDArray]:
    """Numbers of the tiles of activations (row tile, group, chunk) and of weights, in the order of the walk."""
    chunks = len(filters.positions)
    walk = np.indices((row_tiles, filter_tiles, chunks)).transpose(1, 2, 3, 0)
    row_tile, filter_tile, chunk = tiling.lanes_first(walk).reshape(-1, 3).T
    group = tiling.group_of_tile[filter_tile]
    return (row_tile * filters.groups + group) * chunks + chunk, filter_tile * chunks + chunk


def tile_misses(visits: NDArray, capacity: int, replacement: str) -> NDArray:
    """Which visits find their tile absent from a cache of `capacity` tiles (at least the one in use)."""
    resident: OrderedDict[int, None] = OrderedDict()
    misses = np.zeros(len(visits), bool)
    for visit, tile in enumerate(visits.tolist()):
        if tile in resident:
            if replacement == "lru":
                resident.move_to_end(tile)
            continue
        misses[visit] = True
        if len(resident) >= max(capacity, 1):
            resident.popitem(last=False)
        resident[tile] = None
    return misses


def traffic(
    accelerator: Accelerator,
    plan: MemoryPlan,
    activations: Activations,
    tile_cycles: NDArray,
    word_reads: int,
    word_bits: int,
    written_bits: float,
    passes: int,
) -> Traffic:
    """Bits of one image.

    DRAM: what misses, and the output once. SRAM reads: the weights and the bitmask of each visited tile, one
    activation word per match. SRAM writes: what DRAM delivers, and the output once.
    """
    spiking = np.bitwise_count(activations.masks).sum(-1, dtype=np.int64)
    per_tile = np.add.reduceat(spiking, plan.row_starts, axis=1).transpose(1, 0, 2).reshape(-1)
    activation_bits = per_tile * word_bits + plan.activation_mask_bits
    fetched = plan.activation_misses * activation_bits[plan.activation_tile] + plan.fetched_weight_bits
    visited = plan.weight_bits.sum() + plan.activation_mask_bits[plan.activation_tile].sum()
    read = passes * float(fetched.sum())
    return Traffic(
        dram_read_bits=read,
        dram_write_bits=written_bits,
        sram_read_bits=float(passes * visited + word_reads * word_bits),
        sram_write_bits=read + written_bits,
        stall_cycles=stall_cycles(passes * fetched / 8 / accelerator.dram_bytes_per_cycle, tile_cycles.reshape(-1)),
    )


def stall_cycles(loads: NDArray, computes: NDArray) -> int:
    """With two buffers a tile loads while the one before computes; the first load is not hidden."""
    return int(np.ceil(loads[0] + np.maximum(loads[1:] - computes[:-1], 0).sum()))
