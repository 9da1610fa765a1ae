"""The Quantization-Clip-Floor-Shift activation of the ANN (eq. 1, Section 3.1)."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pascal.errors import PascalError

_SHARPNESS = 100.0  # softplus is the identity above 20/_SHARPNESS = 0.2, so ordinary thresholds are stored as they are


def qcfs_count(preactivation: Tensor, step: Tensor | float, levels: int) -> Tensor:
    """The level an ANN neuron reaches: clip(⌊z/θ* + ½⌋, 0, L), as int32.

    Shape: any; `step` broadcasts against `preactivation`.
    """
    check_levels(levels)
    return _clipped_floor((preactivation / step).add_(0.5), levels).to(torch.int32)


def _clipped_floor(shifted: Tensor, levels: int) -> Tensor:
    """clip(⌊z/θ* + ½⌋, 0, L) of z/θ* + ½, which it consumes."""
    return shifted.floor_().clamp_(0, levels)


class _StraightThroughQCFS(torch.autograd.Function):
    """h(z) = θ/L · clip(⌊zL/θ + ½⌋, 0, L); the floor passes gradients on, the clip to [0, θ] stops them.

    Keeps z, and h, which the next layer keeps anyway: autograd would keep five tensors of the same expression.
    """

    @staticmethod
    def forward(ctx: Any, preactivation: Tensor, threshold: Tensor, levels: int) -> Tensor:
        step = threshold / levels
        output = _clipped_floor((preactivation / step).add_(0.5), levels).mul_(step)
        ctx.save_for_backward(preactivation, output, threshold)
        ctx.levels = levels
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (gradient,) = gradients
        preactivation, output, threshold = ctx.saved_tensors
        passed = _passed(gradient, preactivation, threshold, ctx.levels)
        if not ctx.needs_input_grad[1]:
            return passed, None, None
        # dh/dθ = h/θ, less z/θ where z itself was passed on.
        of_threshold = (_inner(gradient, output) - _inner(passed, preactivation)) / threshold
        return passed, of_threshold.reshape(threshold.shape), None


def _passed(gradient: Tensor, preactivation: Tensor, threshold: Tensor, levels: int) -> Tensor:
    """The gradient where 0 ≤ z ≤ θ, in one vectorised pass where masks of booleans take four."""
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


class QCFS(nn.Module):
    """h(z) = θ · clip(⌊zL/θ + ½⌋/L, 0, 1), with a trainable threshold θ > 0 and L levels.

    Shape: any → the same.
    """

    def __init__(self, levels: int = 8, threshold: float = 8.0) -> None:
        super().__init__()
        self.levels = levels
        self.raw_threshold = nn.Parameter(torch.tensor(_raw(float(threshold))))

    @property
    def levels(self) -> int:
        """L: how many steps the activation can climb."""
        return self._levels

    @levels.setter
    def levels(self, levels: int) -> None:
        self._levels = check_levels(levels)

    @property
    def threshold(self) -> Tensor:
        """θ: the largest activation. Positive whatever the optimiser does, and equal to its parameter above 0.2."""
        smallest = torch.finfo(self.raw_threshold.dtype).tiny ** 0.5
        return F.softplus(self.raw_threshold, beta=_SHARPNESS).clamp_min(smallest)

    @threshold.setter
    def threshold(self, threshold: Tensor | float) -> None:
        with torch.no_grad():
            self.raw_threshold.fill_(_raw(float(threshold)))

    @property
    def step(self) -> Tensor:
        """θ* = θ/L: the height of one level and the worth of one spike."""
        return self.threshold / self.levels

    def count(self, preactivation: Tensor) -> Tensor:
        """The level that each neuron reaches, as int32."""
        return qcfs_count(_at_least_as_precise(preactivation, self.raw_threshold), self.step, self.levels)

    def forward(self, preactivation: Tensor) -> Tensor:
        preactivation = _at_least_as_precise(preactivation, self.raw_threshold)
        return _StraightThroughQCFS.apply(preactivation, self.threshold, self.levels)

    def get_extra_state(self) -> Tensor:
        return torch.tensor(self.levels)

    def set_extra_state(self, state: Tensor) -> None:
        self.levels = int(state)

    def extra_repr(self) -> str:
        return f"levels={self.levels}, threshold={self.threshold.item():.6g}"


def _at_least_as_precise(preactivation: Tensor, threshold: Tensor) -> Tensor:
    """Under autocast convolutions hand on bfloat16, whose 8 bits would move values across level boundaries."""
    return preactivation.to(torch.promote_types(preactivation.dtype, threshold.dtype))


MOST_LEVELS = 2**23  # up to here float32 tells half a level apart, as QCFS does when it rounds; also in the schema


def check_levels(levels: int, where: str = "levels") -> int:
    """`levels` itself, if it is a whole number from one to `MOST_LEVELS`."""
    if isinstance(levels, bool) or not isinstance(levels, int) or not 1 <= levels <= MOST_LEVELS:
        raise PascalError(f"{where}: got {levels!r}, expected a whole number >= 1 and at most {MOST_LEVELS}")
    return levels


def _raw(threshold: float) -> float:
    """The parameter whose softplus is `threshold`."""
    if not (math.isfinite(threshold) and threshold > 0):
        raise PascalError(f"threshold: got {threshold}, expected a finite number > 0")
    if threshold > 20 / _SHARPNESS:
        return threshold
    return math.log(math.expm1(_SHARPNESS * threshold)) / _SHARPNESS
