"""QCFS forward and backward: the floor passes gradients on as if it were not there, the clip stops them."""

from types import ModuleType
from typing import Any

import torch
from torch import Tensor

_LARGE = 1 << 14  # numbers; below, a few calls of torch are as quick as one kernel


def clipped_floor(shifted: Tensor, levels: int) -> Tensor:
    """clip(⌊z/θ* + ½⌋, 0, L) of z/θ* + ½, which it consumes."""
    return shifted.floor_().clamp_(0, levels)


class StraightThroughQCFS(torch.autograd.Function):
    """h(z) = θ/L · clip(⌊zL/θ + ½⌋, 0, L); the floor passes gradients on, the clip to [0, θ] stops them.

    Levels are decided at least in the precision of θ; h comes in the type `kept`. Keeps z alone: autograd would keep
    five tensors of the same expression.
    """

    @staticmethod
    def forward(ctx: Any, preactivation: Tensor, threshold: Tensor, levels: int, kept: torch.dtype) -> Tensor:
        ctx.save_for_backward(preactivation, threshold)
        ctx.levels, ctx.kernels = levels, _kernels(preactivation, threshold, kept)
        if ctx.kernels:
            return ctx.kernels.fused_qcfs(preactivation, threshold, levels)
        return _heights(at_least_as_precise(preactivation, threshold), threshold / levels, levels).to(kept)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        preactivation, threshold = ctx.saved_tensors
        if ctx.kernels and not torch.is_grad_enabled():  # with it autograd follows the backward pass too
            return *ctx.kernels.fused_gradients(gradient, preactivation, threshold, ctx.levels), None, None
        return *_gradients(gradient, preactivation, threshold, ctx.levels, ctx.needs_input_grad[1]), None, None


def _kernels(preactivation: Tensor, threshold: Tensor, kept: torch.dtype) -> ModuleType | None:
    """The compiled kernels, where they apply and a layer is large enough to be worth their import."""
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return None
    if preactivation.dtype != kept or preactivation.numel() < _LARGE:
        return None
    from pascal.neurons import fused  # numba takes a second

    return fused if fused.fits(preactivation, threshold) else None


def _heights(preactivation: Tensor, step: Tensor, levels: int) -> Tensor:
    return clipped_floor((preactivation / step).add_(0.5), levels).mul_(step)


def _gradients(
    gradient: Tensor, preactivation: Tensor, threshold: Tensor, levels: int, of_threshold: bool
) -> tuple[Tensor, Tensor | None]:
    """Those of z, in its own type, and of θ."""
    own = preactivation.dtype
    preactivation, gradient = (at_least_as_precise(each, threshold) for each in (preactivation, gradient))
    passed = _passed(gradient, preactivation, threshold, levels)
    if not of_threshold:
        return passed.to(own), None
    # dh/dθ = h/θ, less z/θ where z itself was passed on.
    output = _heights(preactivation, threshold / levels, levels)
    if threshold.ndim:
        channels = (gradient * output - passed * preactivation).sum_to_size(threshold.shape)
        return passed.to(own), channels / threshold
    summed = (_inner(gradient, output) - _inner(passed, preactivation)) / threshold
    return passed.to(own), summed.reshape(threshold.shape)


def _passed(gradient: Tensor, preactivation: Tensor, threshold: Tensor, levels: int) -> Tensor:
    """The gradient where 0 ≤ z ≤ θ; of one θ for all, in one vectorised pass where masks of booleans take four."""
    if threshold.ndim:
        return torch.where((preactivation >= 0) & (preactivation <= threshold), gradient, 0)
    if preactivation.device.type == "cpu" and not torch.compiler.is_compiling():
        largest = threshold.item()
    else:  # where reading θ would wait for the device, or break the compiled graph
        preactivation, largest = preactivation / (threshold / levels), levels
    number = torch.finfo(preactivation.dtype)
    # The interval of this function is open: it begins just outside [0, θ].
    return torch.ops.aten.hardtanh_backward(
        gradient, preactivation, -number.tiny * number.eps, largest * (1 + number.eps)
    )


def _inner(a: Tensor, b: Tensor) -> Tensor:
    """Σ a·b without a tensor of products, read in the order of b's memory."""
    if b.dim() == 4 and b.is_contiguous(memory_format=torch.channels_last):
        a, b = a.movedim(1, -1), b.movedim(1, -1)
    return torch.dot(a.flatten(), b.flatten())


def at_least_as_precise(preactivation: Tensor, threshold: Tensor) -> Tensor:
    """Under autocast convolutions hand on bfloat16, whose 8 bits would move values across level boundaries."""
    return preactivation.to(torch.promote_types(preactivation.dtype, threshold.dtype))
