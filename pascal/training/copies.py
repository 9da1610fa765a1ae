"""Copies of tensors, as files and states hold them."""

from torch import Tensor, nn


def weights(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the model's state on the CPU, in plain memory order."""
    return {name: own_copy(tensor) for name, tensor in model.state_dict().items()}


def own_copy(tensor: Tensor) -> Tensor:
    """The values as they are now, in memory that nobody else writes to."""
    return tensor.detach().cpu().clone().contiguous()
