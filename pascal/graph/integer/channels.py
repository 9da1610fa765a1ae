"""Values per channel and values per place."""

import torch
from torch import Tensor

from pascal.errors import PascalError
from pascal.neurons.channels import along_channels


def over_places(values: Tensor, like: Tensor) -> Tensor:
    """One value per channel, or one for all, spread over the shape of `like`."""
    return along_channels(values, like).expand(like.shape).contiguous()


def channel_units(unit: Tensor, axis: int, path: str) -> Tensor:
    """The unit of each channel; refuses channels whose unit differs from place to place."""
    flat = unit.movedim(axis, 0).flatten(1)
    largest = flat.amax(1)
    if not bool(((flat == largest[:, None]) | (flat == 0)).all()):
        raise PascalError(
            f"{path}: spikes of different steps arrive in one channel, which no integer weight can tell apart; "
            "keep channels apart from space, or use engine='counts'"
        )
    return largest


def compact(values: Tensor) -> Tensor:
    """The same values, one for each axis along which they do not change."""
    for axis in range(values.ndim):
        first = values.narrow(axis, 0, 1)
        values = first if torch.equal(values, first.expand_as(values)) else values
    return values.clone()
