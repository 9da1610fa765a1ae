"""Sums that reuse the memory of currents nobody else reads."""

from typing import Any

import torch
from torch import Tensor

from pascal.graph.leaf import leaf
from pascal.neurons.channels import along_channels


@leaf
def add_into(total: Tensor, other: Any, alpha: float = 1.0) -> Tensor:
    """total + alpha · other, in the place of `total` unless the sum has another shape."""
    if isinstance(other, Tensor) and other.shape != total.shape:
        return torch.add(total, other, alpha=alpha)
    return total.add_(other, alpha=alpha)


@leaf
def add_scaled(total: Tensor, other: Tensor, alpha: Tensor, sign: int = 1, into: bool = False) -> Tensor:
    """total ± alpha · other with an alpha per channel of `other`; `into`: in the place of `total` where it can be."""
    factor = along_channels(alpha, other)
    if into and other.shape == total.shape:
        return total.addcmul_(other, factor, value=sign)
    return torch.addcmul(total, other, factor, value=sign)
