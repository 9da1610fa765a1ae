"""Matches: per output neuron and chunk, how many positions have both a spike and a weight. One counter, two oracles."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

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


def count_matches_bitwise(activations: NDArray, filters: NDArray) -> NDArray:
    """Oracle: the same with NumPy's own population count."""
    groups, rows = activations.shape[:2]
    both = activations[:, :, None] & filters.reshape(groups, 1, -1, *filters.shape[1:])
    return _per_filter(np.bitwise_count(both).sum(-1, dtype=np.uint16), rows, len(filters))


def count_matches_matmul(activations: NDArray, filters: NDArray) -> NDArray:
    """Oracle: the same as products of 0/1 matrices, exact in float32 below 2²⁴."""
    groups, rows = activations.shape[:2]
    left = _bits(activations).transpose(0, 2, 1, 3)
    right = _bits(filters.reshape(groups, -1, *filters.shape[1:])).transpose(0, 2, 3, 1)
    return _per_filter((left @ right).transpose(0, 2, 3, 1).astype(np.uint16), rows, len(filters))


def _bits(masks: NDArray) -> NDArray:
    contiguous = np.ascontiguousarray(masks)
    return np.unpackbits(contiguous.view(np.uint8), axis=-1).astype(np.float32)


def _per_filter(matches: NDArray, rows: int, filters: int) -> NDArray:
    """Shape: (groups, M, N/groups, chunks) → (M, N, chunks)."""
    return matches.transpose(1, 0, 2, 3).reshape(rows, filters, -1)
