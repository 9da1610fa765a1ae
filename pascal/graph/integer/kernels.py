"""Layers on oneDNN's INT8 kernels: bytes in, bytes or float32 out, neurons included.

Sums are exact: counts up to 127 times weights up to 127, in pairs, stay below 2¹⁵ even where a CPU adds pairs in
16 bits. What follows is float32 and monotone in the sum, so it is enough that no count changes at the wrong place.
Where counts change, the preactivation z lies within (L+1)θ, hence sum, bias and other terms within the magnitude
M = (L+1)θ + 2|b| + 2|others|, and the kernel's few roundings put z/θ off by at most 4 · 2⁻²⁴ · M/θ: for M < 2²⁰, a
quarter of 1/θ. Half a unit is added to z, so that a whole z stands half of 1/θ away from every change.
"""

import platform
from typing import Any

import torch
from torch import Tensor, nn

from pascal.graph.integer.modules import IntegerWeighted

LARGEST_COUNT = 127
LARGEST_MAGNITUDE = 2**20


def have_kernels(device: torch.device) -> bool:
    """Whether this build of torch has oneDNN's INT8 layers for this device."""
    known = platform.machine() in ("x86_64", "AMD64") and hasattr(torch.ops.onednn, "qconv2d_pointwise")
    return device.type == "cpu" and torch.backends.mkldnn.is_available() and known


def runs_on_kernels(layer: nn.Module | None) -> bool:
    """Whether the kernels know this kind of layer."""
    if not isinstance(layer, IntegerWeighted):
        return False
    conv = layer.weighted
    plain = isinstance(conv, nn.Conv2d) and conv.padding_mode == "zeros" and not isinstance(conv.padding, str)
    return plain or isinstance(conv, nn.Linear)


def rounds_safely(layer: IntegerWeighted, threshold: Tensor, levels: int, others: int = 0) -> bool:
    """Whether float32 cannot move a count: M < 2²⁰."""
    magnitude = (levels + 1) * threshold + 2 * layer.constant.abs() + 2 * others
    return levels <= LARGEST_COUNT and int(magnitude.max()) < LARGEST_MAGNITUDE


def as_bytes(counts: Tensor) -> Tensor:
    """Counts up to 127 as bytes, by the fastest way there is."""
    return counts if counts.dtype == torch.uint8 else counts.to(torch.int8).view(torch.uint8)


def max_pool_bytes(counts: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Max pooling of bytes, which torch has under another name."""
    names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
    options = {"padding": 0, "dilation": 1, "ceil_mode": False, **dict(zip(names, args, strict=False)), **kwargs}
    stride = options.get("stride") or options["kernel_size"]
    sizes = [_pair(value) for value in (options["kernel_size"], stride, options["padding"], options["dilation"])]
    counts = as_bytes(counts).contiguous(memory_format=torch.channels_last)
    return torch.ops.quantized.max_pool2d(counts, *sizes, options["ceil_mode"])


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)


class Int8Layer(nn.Module):
    """(w·x + b + offset) / divisor, with an offset and a divisor per output channel."""

    scale: Tensor
    shift: Tensor
    zero_points: Tensor

    def __init__(self, layer: IntegerWeighted, divisor: Tensor, offset: Tensor | float = 0.0) -> None:
        super().__init__()
        self.geometry = _geometry(layer.weighted)
        self.register_buffer("scale", (1 / divisor.double()).float())
        self.register_buffer("shift", ((layer.constant.double() + offset) / divisor.double()).float())
        self.register_buffer("zero_points", torch.zeros_like(layer.constant))
        self.packed = _packed(layer, self.scale, self.geometry)

    def run(self, counts: Tensor, dtype: torch.dtype, after: str, limits: list[int]) -> Tensor:
        """The kernel, with what it does to each sum afterwards."""
        weights = (1.0, 0, self.packed, self.scale, self.zero_points, self.shift)
        if not self.geometry:
            return torch.ops.onednn.qlinear_pointwise(as_bytes(counts), *weights, 1.0, 0, dtype, after, limits, "")
        counts = as_bytes(counts).contiguous(memory_format=torch.channels_last)
        return torch.ops.onednn.qconv2d_pointwise(counts, *weights, *self.geometry, 1.0, 0, dtype, after, limits, "")


class Int8Currents(Int8Layer):
    """A layer alone, in float32."""

    def forward(self, counts: Tensor) -> Tensor:
        return self.run(counts, torch.float32, "none", [])


class Int8Neurons(Int8Layer):
    """A layer and its neurons: spike counts, as bytes. The kernel rounds to nearest, which is ⌊z/θ + ½⌋ here."""

    def __init__(self, layer: IntegerWeighted, threshold: Tensor, levels: int) -> None:
        super().__init__(layer, threshold, 0.5)
        self.levels = levels

    def forward(self, counts: Tensor) -> Tensor:
        return self.run(counts, torch.uint8, "hardtanh", [0, self.levels])


class Int8Meeting(Int8Layer):
    """A layer, the currents that it is added to, and their neurons. Overwrites those currents."""

    def __init__(self, layer: IntegerWeighted, threshold: Tensor, levels: int) -> None:
        super().__init__(layer, threshold, threshold.double() / 2 + 0.5)
        self.levels = levels

    def forward(self, counts: Tensor, currents: Tensor) -> Tensor:
        counts = as_bytes(counts).contiguous(memory_format=torch.channels_last)
        weights = (1.0, 0, self.packed, self.scale, self.zero_points, currents, self.shift)
        after: tuple[Any, ...] = (1.0, 0, torch.float32, 1.0, 0, "sum", 1.0, "none", [], "")
        total = torch.ops.onednn.qconv2d_pointwise.binary(counts, *weights, *self.geometry, *after)
        return as_bytes(total.clamp_(0, self.levels))


class Int8Identity(nn.Module):
    """Spikes that join a meeting as they are: multiplier/θ per channel, in float32."""

    ratio: Tensor

    def __init__(self, multiplier: Tensor, threshold: Tensor) -> None:
        super().__init__()
        self.register_buffer("ratio", (multiplier.double() / threshold.double()).float().view(1, -1, 1, 1))

    def forward(self, counts: Tensor) -> Tensor:
        return counts.to(torch.float32, memory_format=torch.channels_last, copy=True).mul_(self.ratio)


def _geometry(weighted: Any) -> tuple[Any, ...]:
    if isinstance(weighted, nn.Linear):
        return ()
    return (*map(list, (weighted.stride, weighted.padding, weighted.dilation)), weighted.groups)


def _packed(layer: IntegerWeighted, scale: Tensor, geometry: tuple[Any, ...]) -> Tensor:
    if not geometry:
        return torch.ops.onednn.qlinear_prepack(layer.weight, None)
    return torch.ops.onednn.qconv_prepack(layer.weight, scale, 1.0, 0, *geometry)
