"""How far a preactivation is from the places where its count changes: what rounding would have to bridge."""

import torch
from torch import Tensor

_NEAR = 2.0**-8  # steps; nearer than this, a rounded quotient does not tell a tie from its neighbours


def boundary_distances(preactivation: Tensor, step: Tensor, levels: int) -> Tensor:
    """Distance from the nearest boundary z = (k − ½)·θ*, k in 1..L, in steps; 0 at a tie and nowhere else.

    Below the first boundary and above the last nothing changes, however near a multiple of the step may be.
    """
    position = preactivation / step
    distances = (position - _boundary(position, levels)).abs_()
    near = distances < _NEAR + 8 * levels * torch.finfo(position.dtype).eps
    if bool(near.any()):
        steps = step.expand_as(preactivation)[near]
        distances[near] = _exact_distances(preactivation[near], steps, levels).to(distances.dtype)
    return distances


def _boundary(position: Tensor, levels: int) -> Tensor:
    return (position + 0.5).round_().clamp_(1, levels) - 0.5


def _exact_distances(preactivation: Tensor, step: Tensor, levels: int) -> Tensor:
    """The same from the remainder z − (k − ½)·θ*, which is zero only if the two are equal."""
    z, step = preactivation.double(), step.double()
    k = _boundary(z / step, levels)
    product, error = _two_product(k, step)
    return (z - product - error).abs_().div_(step)  # so near, z − product has no rounding


def _two_product(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """a·b as the rounded product and its rounding error, exactly (Dekker's, with Veltkamp's halves)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(number: Tensor) -> tuple[Tensor, Tensor]:
    shifted = number * (2.0**27 + 1)
    high = shifted - (shifted - number)
    return high, number - high
