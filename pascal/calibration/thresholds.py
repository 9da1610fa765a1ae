"""Thresholds from what an activation should put out: by maximum, percentile, or least squared error."""

import torch
from torch import Tensor

from pascal.checks import check_number
from pascal.errors import PascalError

FRACTIONS = torch.linspace(0.02, 1.1, 55, dtype=torch.float64)  # of the maximum
CHUNK = 2**16  # values that stay in the processor's cache while all fractions are tried on them


def by_error(arriving: Tensor, wanted: Tensor, largest: Tensor, levels: int, clip: float | None) -> Tensor:
    """argmin over θ of Σ (h(z) − wanted)², one θ or one per channel as `largest` is.

    Shape: arriving, wanted (places, C); largest () or (C,).
    """
    fractions = FRACTIONS.to(largest.device).view(-1, *[1] * largest.ndim)
    tried = (fractions * largest).clamp_max(torch.inf if clip is None else clip).clamp_min(_tiny(largest))
    errors = torch.zeros_like(tried)
    rows = max(1, CHUNK // arriving.shape[1])
    for some, of_those in zip(arriving.split(rows), wanted.split(rows), strict=True):
        for number, threshold in enumerate(tried):
            error = quantised(some, threshold, levels).sub_(of_those).square_().sum(0, dtype=torch.float64)
            errors[number] += error if largest.ndim else error.sum()
    return tried.gather(0, errors.argmin(0, keepdim=True))[0]


def by_percentile(wanted: Tensor, percentile: float) -> Tensor:
    """The value below which `percentile` of the positive activations lie."""
    positive = wanted[wanted > 0].double().sort().values
    return positive[max(0, min(len(positive) - 1, round(len(positive) * percentile / 100) - 1))]


def quantised(preactivation: Tensor, threshold: Tensor, levels: int) -> Tensor:
    """h(z) with thresholds along the last axis."""
    step = (threshold / levels).to(preactivation)
    return (preactivation / step).add_(0.5).floor_().clamp_(0, levels).mul_(step)


def check_percentile(percentile: float) -> None:
    """Refuse what is no share."""
    if not 0 < check_number(percentile, "percentile") <= 100:
        raise PascalError(f"percentile: got {percentile}, expected a number in (0, 100]")


def _tiny(values: Tensor) -> float:
    return torch.finfo(values.dtype).tiny ** 0.5
