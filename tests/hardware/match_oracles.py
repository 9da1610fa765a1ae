"""Matches counted in two other ways, which the counter is held to."""

import numpy as np
from numpy.typing import NDArray


def count_matches_bitwise(activations: NDArray, filters: NDArray) -> NDArray:
    """The same with NumPy's own population count."""
    groups, rows = activations.shape[:2]
    both = activations[:, :, None] & filters.reshape(groups, 1, -1, *filters.shape[1:])
    return _per_filter(np.bitwise_count(both).sum(-1, dtype=np.uint16), rows, len(filters))


def count_matches_matmul(activations: NDArray, filters: NDArray) -> NDArray:
    """The same as products of 0/1 matrices, exact in float32 below 2²⁴."""
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
