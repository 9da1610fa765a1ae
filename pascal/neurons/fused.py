"""QCFS in one pass over memory, as ReLU is: `straight_through.py` compiled for float32 and bfloat16 on the CPU.

As calls of torch the same takes six passes forward and six backward. Values are the same to the bit; the gradient of
θ is summed by blocks of one size, so that it depends on no number of threads.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import torch
from numba import carray, cfunc, njit
from torch import Tensor
from torch.utils._python_dispatch import _get_current_dispatch_mode

_BLOCK, _LANES = 1 << 14, 16
_BLOCKS_PER_THREAD = 16  # below it, waking a thread costs more than it saves
_HALF, _ZERO, _NOTHING = np.float32(0.5), np.float32(0), np.uint16(0)
_WORD, _ROUND, _ONE = np.uint32(16), np.uint32(0x7FFF), np.uint32(1)


def fits(preactivation: Tensor, threshold: Tensor) -> bool:
    """Whether the kernels apply: plain CPU memory in one piece, one θ in float32, nobody recording operations."""
    return (
        type(preactivation) is Tensor
        and preactivation.device.type == "cpu"
        and preactivation.dtype in _FORWARD
        and threshold.ndim == 0
        and threshold.dtype == torch.float32
        and preactivation.is_contiguous(memory_format=_format(preactivation))
        and _get_current_dispatch_mode() is None
    )


def fused_qcfs(preactivation: Tensor, threshold: Tensor, levels: int) -> Tensor:
    """θ* · clip(⌊z/θ* + ½⌋, 0, L), decided in float32 and handed on in the type of z."""
    output = torch.empty_like(preactivation)
    kernel, size = _FORWARD[preactivation.dtype], preactivation.element_size()
    z, h, step = preactivation.data_ptr(), output.data_ptr(), _step(threshold.item(), levels)

    def work(first: int, last: int) -> None:
        kernel(z + first * size, h + first * size, last - first, step, levels)

    _by_blocks(preactivation.numel(), work)
    return output


def fused_gradients(gradient: Tensor, preactivation: Tensor, threshold: Tensor, levels: int) -> tuple[Tensor, Tensor]:
    """The gradient where 0 ≤ z ≤ θ, and that of θ: Σ gradient · (h − z where z itself is passed on) / θ."""
    passed = torch.empty_like(preactivation)
    gradient = gradient.contiguous(memory_format=_format(preactivation))
    kernel, size = _BACKWARD[preactivation.dtype], preactivation.element_size()
    sums = np.empty(-(-preactivation.numel() // _BLOCK), np.float32)
    z, g, out, total = preactivation.data_ptr(), gradient.data_ptr(), passed.data_ptr(), sums.ctypes.data
    largest = threshold.item()
    step = _step(largest, levels)

    def work(first: int, last: int) -> None:
        start, block = first * size, total + first // _BLOCK * sums.itemsize
        kernel(z + start, g + start, out + start, block, last - first, largest, step, levels)

    _by_blocks(preactivation.numel(), work)
    return passed, threshold.new_tensor(sums.sum(dtype=np.float64) / largest)


def _step(threshold: float, levels: int) -> float:
    """θ/L as torch divides float32."""
    return float(np.float32(threshold) / np.float32(levels))


def _format(tensor: Tensor) -> torch.memory_format:
    return torch.channels_last if tensor.dim() == 4 and not tensor.is_contiguous() else torch.contiguous_format


def _by_blocks(length: int, work: Callable[[int, int], None]) -> None:
    """Whole blocks shared out over torch's number of threads."""
    blocks = -(-length // _BLOCK)
    threads = min(torch.get_num_threads(), blocks // _BLOCKS_PER_THREAD)
    if threads < 2:
        work(0, length)
        return
    bounds = [min(length, blocks * k // threads * _BLOCK) for k in range(threads + 1)]
    others = [_pool(os.getpid(), threads - 1).submit(work, *bounds[k : k + 2]) for k in range(1, threads)]
    work(*bounds[:2])
    for other in others:
        other.result()


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """One for each process: threads do not survive a fork."""
    return ThreadPoolExecutor(threads, "qcfs")


@njit
def _height(z, step, levels):  # type: ignore[no-untyped-def]
    count = np.floor(z / step + _HALF)
    count = _ZERO if count < _ZERO else count  # NaN stays what it is
    return (levels if count > levels else count) * step


@njit
def _wide(word):  # type: ignore[no-untyped-def]
    return np.uint32(np.uint32(word) << _WORD).view(np.float32)


@njit
def _narrow(number):  # type: ignore[no-untyped-def]
    """To the nearest bfloat16, ties to even."""
    bits = np.float32(number).view(np.uint32)
    return np.uint16((bits + _ROUND + ((bits >> _WORD) & _ONE)) >> _WORD)


@njit
def _terms(z, gradient, passed, terms, threshold, step, levels):  # type: ignore[no-untyped-def]
    for i in range(z.size):
        inside = (z[i] >= _ZERO) & (z[i] <= threshold)
        terms[i] = gradient[i] * (_height(z[i], step, levels) - (z[i] if inside else _ZERO))
        passed[i] = gradient[i] if inside else _ZERO


@njit
def _terms_of_words(z, gradient, passed, terms, threshold, step, levels):  # type: ignore[no-untyped-def]
    for i in range(z.size):
        number = _wide(z[i])
        inside = (number >= _ZERO) & (number <= threshold)
        terms[i] = _wide(gradient[i]) * (_height(number, step, levels) - (number if inside else _ZERO))
        passed[i] = gradient[i] if inside else _NOTHING


@njit
def _sum(terms, lanes):  # type: ignore[no-untyped-def]
    """Sixteen sums side by side, then their sum: an order that is fast and always the same.

    A compiler that may choose the order chooses by where the memory lies, and equal trainings would leave other bytes.
    """
    lanes[:] = _ZERO
    whole = terms.size // _LANES * _LANES
    for i in range(0, whole, _LANES):
        for lane in range(_LANES):
            lanes[lane] += terms[i + lane]
    total = _ZERO
    for lane in range(_LANES):
        total += lanes[lane]
    for i in range(whole, terms.size):
        total += terms[i]
    return total


_forward = cfunc("void(voidptr, voidptr, int64, float32, float32)", cache=True)
_backward = cfunc("void(voidptr, voidptr, voidptr, voidptr, int64, float32, float32, float32)", cache=True)


@_forward
def _forward_float32(z, h, size, step, levels):  # type: ignore[no-untyped-def]
    numbers, heights = carray(z, size, np.float32), carray(h, size, np.float32)
    for i in range(size):
        heights[i] = _height(numbers[i], step, levels)


@_forward
def _forward_bfloat16(z, h, size, step, levels):  # type: ignore[no-untyped-def]
    words, heights = carray(z, size, np.uint16), carray(h, size, np.uint16)
    for i in range(size):
        heights[i] = _narrow(_height(_wide(words[i]), step, levels))


@_backward
def _backward_float32(z, gradient, passed, sums, size, threshold, step, levels):  # type: ignore[no-untyped-def]
    numbers, slopes = carray(z, size, np.float32), carray(gradient, size, np.float32)
    out, total = carray(passed, size, np.float32), carray(sums, -(-size // _BLOCK), np.float32)
    terms, lanes = np.empty(_BLOCK, np.float32), np.empty(_LANES, np.float32)
    for block in range(total.size):
        own = slice(block * _BLOCK, (block + 1) * _BLOCK)
        some = terms[: numbers[own].size]
        _terms(numbers[own], slopes[own], out[own], some, threshold, step, levels)
        total[block] = _sum(some, lanes)


@_backward
def _backward_bfloat16(z, gradient, passed, sums, size, threshold, step, levels):  # type: ignore[no-untyped-def]
    words, slopes = carray(z, size, np.uint16), carray(gradient, size, np.uint16)
    out, total = carray(passed, size, np.uint16), carray(sums, -(-size // _BLOCK), np.float32)
    terms, lanes = np.empty(_BLOCK, np.float32), np.empty(_LANES, np.float32)
    for block in range(total.size):
        own = slice(block * _BLOCK, (block + 1) * _BLOCK)
        some = terms[: words[own].size]
        _terms_of_words(words[own], slopes[own], out[own], some, threshold, step, levels)
        total[block] = _sum(some, lanes)


# bfloat16 as the words it is: NumPy has no name for it.
_FORWARD = {torch.float32: _forward_float32.ctypes, torch.bfloat16: _forward_bfloat16.ctypes}
_BACKWARD = {torch.float32: _backward_float32.ctypes, torch.bfloat16: _backward_bfloat16.ctypes}
