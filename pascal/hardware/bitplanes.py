"""Small integers in ⌈log₂(L+1)⌉ bits each: one plane of packed bits per binary digit."""

import numpy as np
from numpy.typing import NDArray


def bits_of(levels: int) -> int:
    """⌈log₂(L+1)⌉: bits that a count of 0..L needs."""
    return levels.bit_length()


def pack_planes(values: NDArray, bits: int) -> NDArray:
    """Shape: unsigned (images, n) → uint8 (images, bits, ⌈n/8⌉)."""
    return np.stack([np.packbits((values >> digit) & 1 == 1, axis=-1) for digit in range(bits)], axis=-2)


def unpack_planes(planes: NDArray, size: int) -> NDArray:
    """The inverse for one image. Shape: uint8 (bits, ⌈n/8⌉) → (n,), in the smallest unsigned type of those bits."""
    values = np.zeros(size, dtype=np.min_scalar_type((1 << len(planes)) - 1))
    for digit, plane in enumerate(planes):
        values |= np.unpackbits(plane, count=size).astype(values.dtype) << digit
    return values
