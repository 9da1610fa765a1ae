"""Schedules: who computes which neuron when. A PE has one neuron unit, blocking or overlapped with its next join."""

import heapq
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pascal.accelerators.accelerator import Accelerator
from pascal.hardware.cycles import join_cycles, neuron_work, tile_work
from pascal.hardware.tiling import Tiling


@dataclass(frozen=True, eq=False)
class Schedule:
    """Cycles of one layer without memory: the joins and the exposed neuron cycles of the PE that finishes last."""

    compute_cycles: int
    neuron_cycles: int
    busy_cycles: int  # Σ w over all PEs
    tile_cycles: NDArray | None  # float (lane tiles, serial tiles, chunks); None where memory does not ask

    @property
    def cycles(self) -> int:
        """Until the last spike."""
        return self.compute_cycles + self.neuron_cycles


def schedule_layer(
    accelerator: Accelerator, tiling: Tiling, matches: NDArray, passes: int, extra_cycles: int, unit_cycles: NDArray
) -> Schedule:
    """Place all neurons of a layer.

    `matches` (M, N, chunks); `extra_cycles` per neuron and pass (residual words); `unit_cycles` (M, N) of the units.
    """
    queued = accelerator.schedule in ("dynamic", "lpt")
    table = join_cycles(accelerator.join, accelerator.chunk, passes)
    fixed = passes * (accelerator.join.drain_cycles + extra_cycles)
    work = neuron_work(matches, table, fixed)
    pipelined = accelerator.overlap == "pipelined"
    tiles = None
    if accelerator.memory or not queued:
        tiles = tiling.lanes_first(tile_work(matches, table, tiling.rows, tiling.filters))
        if not queued:
            return _barrier(tiling, tiles, work, fixed, unit_cycles, pipelined)
        tiles = tiles.sum(2) / tiling.pes
    order = tiling.order
    if accelerator.schedule == "lpt":
        order = order[np.argsort(-matches.sum(2, dtype=np.int64).reshape(-1)[order], kind="stable")]
    cycles, compute = _dispatch(work.reshape(-1)[order], unit_cycles.reshape(-1)[order], tiling.pes, pipelined)
    return Schedule(compute, cycles - compute, int(work.sum()), tiles)


def _barrier(
    tiling: Tiling, tiles: NDArray, work: NDArray, fixed: int, unit_cycles: NDArray, pipelined: bool
) -> Schedule:
    """All PEs wait for the slowest at the end of each chunk of a tile, of its drain and of its neurons."""
    slowest = tiles.max(2)
    joins = (slowest.sum(-1) + _per_tile(tiling, np.full(work.shape, fixed))).reshape(-1)
    units = _per_tile(tiling, unit_cycles).reshape(-1)
    compute = int(joins.sum())
    cycles = _overlapped(joins, units) if pipelined else compute + int(units.sum())
    return Schedule(compute, cycles - compute, int(work.sum()), slowest.astype(float))


def _per_tile(tiling: Tiling, cycles: NDArray) -> NDArray:
    """The slowest PE's sum over its neurons of a tile. Shape: (M, N) → (lane tiles, serial tiles)."""
    table = np.arange(int(cycles.max()) + 1)
    return tiling.lanes_first(tile_work(cycles[:, :, None], table, tiling.rows, tiling.filters)[..., 0].max(2))


def _overlapped(joins: NDArray, units: NDArray) -> int:
    """A tile hands over when its joins are done and the units are free; the last units end the layer."""
    now = ready = 0
    for join, unit in zip(joins.tolist(), units.tolist(), strict=True):
        now = max(now + join, ready)
        ready = now + unit
    return ready


@njit(nogil=True, cache=True)
def _dispatch(work, unit_cycles, pes, pipelined):  # type: ignore[no-untyped-def]
    """Each neuron in turn to the PE that frees first, ties to the lowest index. Returns cycles, and those of its joins.

    A key of the heap is time · pes + index, so the smallest key is the first PE.
    """
    heap = [np.int64(pe) for pe in range(pes)]
    busy = np.zeros(pes, np.int64)
    ready = np.zeros(pes, np.int64)
    for task in range(len(work)):
        pe = heap[0] % pes
        done = heap[0] // pes + work[task]
        start = max(done, ready[pe]) if pipelined else done
        ready[pe] = start + unit_cycles[task]
        busy[pe] += work[task]
        heapq.heapreplace(heap, (start if pipelined else ready[pe]) * pes + pe)
    last = np.argmax(ready)
    return ready[last], busy[last]
