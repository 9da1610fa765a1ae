"""Sums that reuse the memory of currents nobody else reads."""

from typing import Any

import torch
from torch import Tensor


def add_into(total: Tensor, other: Any, alpha: float = 1.0) -> Tensor:
    """total + alpha · other, in the place of `total` unless the sum has another shape."""
    if isinstance(other, Tensor) and other.shape != total.shape:
        return torch.add(total, other, alpha=alpha)
    return total.add_(other, alpha=alpha)
