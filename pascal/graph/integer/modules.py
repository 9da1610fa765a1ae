"""Layers and neurons on integers, held in floating point of a width that is exact on them."""

import copy
import platform
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pascal.neurons.pasc import pasc_spikes
from pascal.neurons.qcfs import check_levels


def exact_dtype(largest: float, device: torch.device) -> torch.dtype:
    """float32 holds whole numbers below 2²⁴, float64 below 2⁵³; only oneDNN's float32 kernels are known to add as told.

    Other kernels (Winograd, TF32) multiply what is not in the sum.
    """
    plain = device.type == "cpu" and torch.backends.mkldnn.is_available() and platform.machine() in ("x86_64", "AMD64")
    return torch.float32 if plain and largest < 2**24 else torch.float64


class IntegerLayer(nn.Module):
    """Something linear with an integer constant; `constant` enters once, or in shares at each timestep."""

    constant: Tensor  # int64

    def currents(self, values: Tensor, constant: Tensor) -> Tensor:
        """The layer with another constant."""
        raise NotImplementedError

    def forward(self, values: Tensor) -> Tensor:
        return self.currents(values, self.constant)

    def share(self, timestep: int, timesteps: int) -> Tensor:
        """The part of the constant that enters at a timestep: integers that sum up to it (Theorem 3.3)."""
        whole = self.constant.div(timesteps, rounding_mode="floor")
        return whole + (timestep < self.constant - whole * timesteps)


class IntegerWeighted(IntegerLayer):
    """A convolution or fully connected layer with INT8 weights; `dtype` is where its sums are exact."""

    weight: Tensor  # int8

    def __init__(self, weighted: nn.Module, weight: Tensor, constant: Tensor) -> None:
        super().__init__()
        self.weighted: Any = _shell(weighted)
        self.register_buffer("weight", weight.to(torch.int8))
        self.register_buffer("constant", constant.to(torch.int64))
        self.dtype = torch.float64

    def currents(self, values: Tensor, constant: Tensor) -> Tensor:
        return self._weigh(values.to(self.dtype), self.weight.to(self.dtype), constant.to(self.dtype))

    def largest(self, values: Tensor) -> Tensor:
        """Bound of the accumulator, whatever the order of the sum."""
        return self._weigh(values.double(), self.weight.double().abs(), self.constant.double().abs())

    def _weigh(self, values: Tensor, weight: Tensor, constant: Tensor) -> Tensor:
        if isinstance(self.weighted, nn.Linear):
            return F.linear(values, weight, constant)
        if self.weighted.transposed:
            return _convolve_transposed(self.weighted, values, weight, constant)
        return self.weighted._conv_forward(values, weight, constant)


def outputs_first(weight: Tensor, conv: Any) -> Tensor:
    """Weights (inputs, outputs/groups, ...) of a transposed convolution as (outputs, inputs/groups, ...)."""
    grouped = weight.unflatten(0, (conv.groups, -1)).transpose(1, 2)
    return grouped.flatten(0, 1)


def _convolve_transposed(conv: Any, values: Tensor, weight: Tensor, constant: Tensor) -> Tensor:
    convolve: Any = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}[len(conv.kernel_size)]
    geometry = (conv.stride, conv.padding, conv.output_padding, conv.groups, conv.dilation)
    return convolve(values, outputs_first(weight, conv), constant, *geometry)  # and back again


def _shell(weighted: nn.Module) -> nn.Module:
    """The layer without its numbers, for its geometry."""
    numbers = dict(weighted.named_parameters())
    return copy.deepcopy(weighted, {id(number): None for number in numbers.values()})


class IntegerAffine(IntegerLayer):
    """A multiplier and a constant per channel: batch norm, identity shortcuts, added constants."""

    multiplier: Tensor

    def __init__(self, multiplier: Tensor, constant: Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("multiplier", multiplier.to(torch.float64))
        constant = torch.zeros((), device=multiplier.device) if constant is None else constant
        self.register_buffer("constant", constant.to(torch.int64))

    def currents(self, values: Tensor, constant: Tensor) -> Tensor:
        return values.to(self.multiplier.dtype) * self.multiplier + constant.to(self.multiplier.dtype)

    def largest(self, values: Tensor) -> Tensor:
        """Bound of the result."""
        return values * self.multiplier.double().abs() + self.constant.abs()


class IntegerPASC(nn.Module):
    """The PASC neuron on integers: count = clip(⌊(z + θ/2)/θ⌋, 0, L) with an even integer θ per channel.

    Shape: preactivation (N, ...) → the same.
    """

    threshold: Tensor

    def __init__(self, threshold: Tensor, levels: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("threshold", threshold.to(torch.int64))
        self.levels = check_levels(levels)
        self.dtype = dtype

    def forward(self, preactivation: Tensor) -> Tensor:
        # In a dtype that holds z + θ/2 exactly, the rounded quotient has the exact quotient's floor.
        threshold = self.threshold.to(self.dtype)
        return (preactivation.to(self.dtype) + threshold / 2).div_(threshold).floor_().clamp_(0, self.levels)

    def spikes(self, currents: Iterable[Tensor]) -> Tensor:
        """Algorithm 1 on integer currents, timestep by timestep."""
        whole = torch.int32 if self.dtype == torch.float32 else torch.int64  # membranes too: their bound is checked
        integers = (current.to(whole) for current in currents)
        return pasc_spikes(integers, self.threshold.to(whole), self.levels)


def whole(mean: Tensor, divisor: int) -> Tensor:
    """A sum from its mean: the mean is rounded, the sum is the whole number next to `mean · divisor`."""
    return (mean * divisor).round_()
