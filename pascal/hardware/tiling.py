"""Tiles: which output neurons the PEs work on together. Lanes run in parallel, one per PE; the other axis is serial."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pascal.accelerators.accelerator import Accelerator
from pascal.hardware.lowering import Filters


@dataclass(frozen=True, eq=False)
class Tiling:
    """M rows × N filters cut into tiles: for each row and filter its tile and its PE; the serial axis has PE 0.

    A tile never mixes groups, because those read other inputs.
    """

    by_rows: bool  # lanes are rows (LoAS, mn) or filters (SparTen, nm)
    pes: int
    rows: tuple[NDArray, NDArray]
    filters: tuple[NDArray, NDArray]
    group_of_filter: NDArray

    def lanes_first(self, tiles: NDArray) -> NDArray:
        """Tiles in the order of the walk: along the serial axis first. Shape: (row tiles, filter tiles, ...)."""
        return tiles if self.by_rows else tiles.swapaxes(0, 1)

    @cached_property
    def group_of_tile(self) -> NDArray:
        """Group of each tile of filters."""
        groups = np.zeros(int(self.filters[0].max()) + 1, np.int64)
        groups[self.filters[0]] = self.group_of_filter
        return groups

    @cached_property
    def order(self) -> NDArray:
        """Flat indices (row, filter) in the order of dispatch: the PEs of a tile share one serial index."""
        row, n = np.indices((len(self.rows[0]), len(self.filters[0]))).reshape(2, -1)
        lane, serial = (row, n) if self.by_rows else (n, row)
        return np.lexsort((lane, serial, lane // self.pes))


def tile_layer(accelerator: Accelerator, rows: int, filters: Filters) -> Tiling:
    """LoAS shares one weight fiber among its PEs, SparTen one row; a schedule by barrier says so itself."""
    chosen = {"barrier": True, "barrier_n": False, "gb": False}
    by_rows = chosen.get(accelerator.schedule, accelerator.machine == "loas")
    per_group = len(filters.masks) // filters.groups
    group = np.repeat(np.arange(filters.groups), per_group)
    within = _balanced(filters) if accelerator.schedule == "gb" else np.tile(np.arange(per_group), filters.groups)
    width = accelerator.tile if by_rows else accelerator.pes
    padded = -(-(int(within.max()) + 1) // width) * width
    of_filters = np.divmod(group * padded + within, width)
    of_rows = np.divmod(np.arange(rows), accelerator.pes if by_rows else accelerator.tile)
    serial = of_filters if by_rows else of_rows
    serial[1][:] = 0
    return Tiling(by_rows, accelerator.pes, of_rows, of_filters, group)


def _balanced(filters: Filters) -> NDArray:
    """SparTen's greedy balancing: by density, the densest filter shares a lane with the sparsest."""
    weights = np.bitwise_count(filters.masks).sum((1, 2), dtype=np.int64).reshape(filters.groups, -1)
    size = weights.shape[1]
    rank = np.empty_like(weights)
    np.put_along_axis(rank, np.argsort(-weights, axis=1, kind="stable"), np.arange(size)[None], axis=1)
    return np.minimum(rank, size - 1 - rank).reshape(-1)
