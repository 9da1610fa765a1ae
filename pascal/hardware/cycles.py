"""The joins: positions with both a spike and a weight per chunk, and the busy cycles of neurons and tiles they make."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pascal.accelerators.accelerator import JoinProfile

_PAIRS, _NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@njit(nogil=True, cache=True)
def _popcount(word):  # type: ignore[no-untyped-def]
    word -= (word >> np.uint64(1)) & _PAIRS
    word = (word & _NIBBLES) + ((word >> np.uint64(2)) & _NIBBLES)
    return (((word + (word >> np.uint64(4))) & _BYTES) * _ONES) >> np.uint64(56)


@njit(nogil=True, cache=True)
def count_matches(activations: NDArray, filters: NDArray) -> NDArray:
    """m = popcount(maskA ∧ maskB).

    Shape: uint64 (groups, M, chunks, words), (N, chunks, words) → uint16 (M, N, chunks).
    """
    groups, rows, chunks, words = activations.shape
    matches = np.empty((rows, len(filters), chunks), np.uint16)
    per_group = len(filters) // groups
    for row in range(rows):
        for group in range(groups):
            for n in range(group * per_group, (group + 1) * per_group):
                for chunk in range(chunks):
                    total = np.uint64(0)
                    for word in range(words):
                        total += _popcount(activations[group, row, chunk, word] & filters[n, chunk, word])
                    matches[row, n, chunk] = total
    return matches


def join_cycles(profile: JoinProfile, chunk: int, passes: int = 1) -> NDArray:
    """t(m) = sched + max(m + fill, lag) for m > 0, t(0) = sched + empty, for m = 0..chunk; once per pass."""
    matches = np.arange(chunk + 1)
    cycles = profile.sched_cycles + np.maximum(matches + profile.fill_cycles, profile.lag_cycles)
    cycles[0] = profile.sched_cycles + profile.empty_cycles
    return passes * cycles


@njit(nogil=True, cache=True)
def neuron_work(matches: NDArray, table: NDArray, fixed_cycles: int) -> NDArray:
    """w = Σ_c t(m_c) + fixed. Shape: (M, N, chunks) → int64 (M, N)."""
    rows, filters, chunks = matches.shape
    work = np.empty((rows, filters), np.int64)
    for row in range(rows):
        for n in range(filters):
            total = fixed_cycles
            for chunk in range(chunks):
                total += table[matches[row, n, chunk]]
            work[row, n] = total
    return work


@njit(nogil=True, cache=True)
def tile_work(
    cycles: NDArray, table: NDArray, rows: tuple[NDArray, NDArray], filters: tuple[NDArray, NDArray]
) -> NDArray:
    """Cycles that each PE spends on each chunk of each tile; an axis gives the tile and the PE of its indices.

    Shape: (M, N, chunks) → int64 (row tiles, filter tiles, PEs, chunks).
    """
    (row_tile, row_pe), (filter_tile, filter_pe) = rows, filters
    pes = row_pe.max() + filter_pe.max() + 1
    work = np.zeros((row_tile.max() + 1, filter_tile.max() + 1, pes, cycles.shape[2]), np.int64)
    for row in range(cycles.shape[0]):
        for n in range(cycles.shape[1]):
            own = work[row_tile[row], filter_tile[n], row_pe[row] + filter_pe[n]]
            for chunk in range(cycles.shape[2]):
                own[chunk] += table[cycles[row, n, chunk]]
    return work
