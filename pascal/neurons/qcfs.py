"""The Quantization-Clip-Floor-Shift activation of the ANN (eq. 1, Section 3.1)."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pascal.checks import check_number, shown
from pascal.errors import PascalError
from pascal.neurons.channels import along_channels
from pascal.neurons.straight_through import StraightThroughQCFS, at_least_as_precise, clipped_floor

INTEGERS_BELOW = 2**53
_SHARPNESS = 100.0  # softplus is the identity above 20/_SHARPNESS = 0.2, so ordinary thresholds are stored as they are
_PRODUCTS = (torch.bfloat16, torch.float16)  # the types of products under autocast


def qcfs_count(preactivation: Tensor, step: Tensor | float, levels: int) -> Tensor:
    """The level an ANN neuron reaches: clip(⌊z/θ* + ½⌋, 0, L), as int32.

    Shape: any; `step` broadcasts against `preactivation`.
    """
    check_levels(levels)
    check_values(preactivation, "preactivation")
    own = check_step(step, "step", preactivation)
    if preactivation.is_floating_point() and bool(preactivation.isnan().any()):
        raise PascalError("preactivation: got NaN, expected numbers")
    return clipped_floor((preactivation / own).add_(0.5), levels).to(torch.int32)


def check_values(values: Any, name: str, like: Tensor | None = None) -> Tensor:
    """`values`, if they are a tensor of real numbers, in the shape of another one."""
    if not isinstance(values, Tensor) or values.is_complex():
        raise PascalError(f"{name}: got {shown(values)}, expected a tensor of real numbers")
    if like is not None and values.shape != like.shape:
        raise PascalError(f"{name}: got shape {tuple(values.shape)}, expected that of the others, {tuple(like.shape)}")
    return values


def check_step(step: Any, name: str, values: Tensor) -> Tensor | float:
    """`step`, if it is positive and finite, in the arithmetic of `values` too, and broadcasts against them."""
    if not isinstance(step, Tensor):
        own = check_number(step, name, above=0)
        largest = torch.finfo(values.dtype).max if values.is_floating_point() else INTEGERS_BELOW
        if own > largest:
            raise PascalError(f"{name}: got {own}, expected at most {largest:.3g}, which {values.dtype} can hold")
        return step  # type: ignore[no-any-return]
    if not bool(((step > 0) & step.isfinite()).all()):
        raise PascalError(f"{name}: got {step.flatten()[:8].tolist()}, expected finite numbers > 0")
    sizes = zip(reversed(step.shape), reversed(values.shape), strict=False)
    if step.ndim > values.ndim or any(mine not in (1, theirs) for mine, theirs in sizes):
        raise PascalError(f"{name}: got shape {tuple(step.shape)}, which does not fit {tuple(values.shape)}")
    return step


class QCFS(nn.Module):
    """h(z) = θ · clip(⌊zL/θ + ½⌋/L, 0, 1), with a trainable threshold θ > 0 and L levels.

    Shape: any → the same; with a threshold per channel, a tensor (C,), it is (N, C, ...) → the same.
    """

    def __init__(self, levels: int = 8, threshold: Tensor | float = 8.0) -> None:
        super().__init__()
        self.levels = levels
        self.clip: float | None = None  # of the activation in whose place it stands: no threshold above it helps
        self.raw_threshold = nn.Parameter(_raw(threshold).to(torch.get_default_dtype()))

    @property
    def levels(self) -> int:
        """L: how many steps the activation can climb."""
        return self._levels

    @levels.setter
    def levels(self, levels: int) -> None:
        self._levels = check_levels(levels)

    @property
    def threshold(self) -> Tensor:
        """θ: the largest activation, one for all or one per channel. Positive whatever the optimiser does, and equal to
        its parameter above 0.2."""
        smallest = torch.finfo(self.raw_threshold.dtype).tiny ** 0.5
        return F.softplus(self.raw_threshold, beta=_SHARPNESS).clamp_min(smallest)

    @threshold.setter
    def threshold(self, threshold: Tensor | float) -> None:
        raw = _raw(threshold)
        with torch.no_grad():
            if raw.ndim:
                self._resize(raw.shape)
            self.raw_threshold.copy_(raw)

    @property
    def step(self) -> Tensor:
        """θ* = θ/L: the height of one level and the worth of one spike."""
        return self.threshold / self.levels

    def count(self, preactivation: Tensor) -> Tensor:
        """The level that each neuron reaches, as int32."""
        preactivation = at_least_as_precise(preactivation, self.raw_threshold)
        return qcfs_count(preactivation, along_channels(self.step, preactivation), self.levels)

    def forward(self, preactivation: Tensor) -> Tensor:
        threshold = along_channels(self.threshold, preactivation)
        return StraightThroughQCFS.apply(preactivation, threshold, self.levels, _kept(preactivation, threshold))

    def get_extra_state(self) -> Tensor:
        return torch.tensor(self.levels)

    def set_extra_state(self, state: Tensor) -> None:
        self.levels = int(state)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """One threshold or one per channel, as the state has it; torch would take the first of them."""
        raw = state_dict.get(f"{prefix}raw_threshold")
        if isinstance(raw, Tensor) and raw.ndim <= 1:
            self._resize(raw.shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _resize(self, shape: torch.Size) -> None:
        """Room for other channels in the same parameter, so that an optimiser keeps hold of it."""
        if self.raw_threshold.shape != shape:
            self.raw_threshold.data = self.raw_threshold.new_empty(shape)
            self.raw_threshold.grad = None

    def extra_repr(self) -> str:
        return f"levels={self.levels}, threshold={spelled(self.threshold)}"


def spelled(values: Tensor) -> str:
    """A number, or the range of the numbers of all channels."""
    if values.ndim == 0:
        return f"{values.item():.6g}"
    return f"{values.min().item():.6g}..{values.max().item():.6g} of {len(values)} channels"


def _kept(preactivation: Tensor, threshold: Tensor) -> torch.dtype:
    """What h is handed on in: under autocast the type that the next product rounds it to anyway."""
    kept = torch.promote_types(preactivation.dtype, threshold.dtype)
    if preactivation.dtype not in _PRODUCTS or not torch.is_autocast_enabled(preactivation.device.type):
        return kept
    return preactivation.dtype


MOST_LEVELS = 2**23  # up to here float32 tells half a level apart, as QCFS does when it rounds


def check_levels(levels: int, where: str = "levels") -> int:
    """`levels` itself, if it is a whole number from one to `MOST_LEVELS`."""
    if isinstance(levels, bool) or not isinstance(levels, int) or not 1 <= levels <= MOST_LEVELS:
        raise PascalError(f"{where}: got {levels!r}, expected a whole number >= 1 and at most {MOST_LEVELS}")
    return levels


def _raw(threshold: Tensor | float) -> Tensor:
    """The parameter whose softplus is `threshold`, in float64: one number, or one per channel."""
    if not isinstance(threshold, Tensor) or threshold.numel() == 1:
        one = threshold.item() if isinstance(threshold, Tensor) else check_number(threshold, "threshold", above=0)
        return torch.tensor(_raw_number(float(one)), dtype=torch.float64)
    if threshold.ndim != 1 or not bool((threshold.isfinite() & (threshold > 0)).all()):
        raise PascalError(
            f"threshold: got a tensor of shape {tuple(threshold.shape)} from {threshold.min().item():.6g} to "
            f"{threshold.max().item():.6g}, expected one finite number > 0, or one per channel"
        )
    precise = threshold.detach().double()
    small = precise.clamp_max(20 / _SHARPNESS).mul(_SHARPNESS).expm1().log() / _SHARPNESS
    return torch.where(precise > 20 / _SHARPNESS, precise, small)


def _raw_number(threshold: float) -> float:
    if not 0 < threshold <= torch.finfo(torch.float32).max:  # infinite beyond it
        raise PascalError(f"threshold: got {threshold}, expected a finite number > 0")
    if threshold > 20 / _SHARPNESS:
        return threshold
    return math.log(math.expm1(_SHARPNESS * threshold)) / _SHARPNESS
