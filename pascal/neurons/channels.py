"""Values per channel: axis 1 of whatever a neuron reads."""

from torch import Tensor

from pascal.errors import PascalError


def along_channels(values: Tensor, like: Tensor) -> Tensor:
    """One value for all as it is; one value per channel so that it broadcasts along axis 1 of `like`."""
    if values.ndim == 0:
        return values
    if like.ndim < 2 or like.shape[1] != len(values):
        raise PascalError(
            f"a layer has thresholds for {len(values)} channels and reads a tensor of shape {tuple(like.shape)}, "
            f"expected (N, {len(values)}, ...); give it one threshold, or one for each channel of axis 1"
        )
    return values.view(-1, *[1] * (like.ndim - 2))
