"""What a network accepts as images."""

import copy

import torch
from torch import Tensor, fx, nn

from pascal.errors import PascalError


def duplicate(model: nn.Module) -> nn.Module:
    """A copy in evaluation mode; weights that hooks compute from others are copied as numbers."""
    attributes = [value for module in model.modules() for value in vars(module).values() if isinstance(value, Tensor)]
    computed = {id(value): value.detach().clone() for value in attributes if not value.is_leaf}
    return copy.deepcopy(model, computed).eval()


def dtype_and_device(model: nn.Module) -> tuple[torch.dtype, torch.device]:
    """Those of the model's floating-point parameters and buffers, which must all share them."""
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    floating = {name: t for name, t in tensors.items() if t.is_floating_point()}
    if not floating:
        raise PascalError(f"{type(model).__name__} has no parameters; expected a network with weights")
    first = next(iter(floating.values()))
    for name, tensor in floating.items():
        if (tensor.dtype, tensor.device) != (first.dtype, first.device):
            raise PascalError(
                f"{name} is {tensor.dtype} on {tensor.device}, other tensors are {first.dtype} on {first.device}; "
                "move the whole model with model.to(...)"
            )
    return first.dtype, first.device


def check_images(images: Tensor, model: nn.Module) -> None:
    """Refuse what would fail later or silently compute something else."""
    dtype, device = dtype_and_device(model)
    if not isinstance(images, Tensor):
        raise PascalError(f"images: got {type(images).__name__}, expected a tensor (N, C, H, W)")
    if images.ndim < 2 or images.shape[0] == 0:
        raise PascalError(f"images: got shape {tuple(images.shape)}, expected a batch of at least one image")
    probe = model.meta.get("probe") if isinstance(model, fx.GraphModule) else None
    if probe is not None and images.ndim != len(probe):
        raise PascalError(
            f"images: got {images.ndim} axes, the network was traced with {len(probe)}; "
            "pass example=images of the new shape to pascal.quantize or pascal.convert"
        )
    if not images.is_floating_point():
        raise PascalError(f"images: got {images.dtype}, expected {dtype}; scale and normalise the pixels first")
    if (images.dtype, images.device) != (dtype, device):
        raise PascalError(
            f"images are {images.dtype} on {images.device}, the network is {dtype} on {device}; call images.to(...)"
        )
    if not bool(torch.isfinite(images).all()):
        raise PascalError("images: got NaN or infinite pixels, expected finite numbers")
    if torch.is_autocast_enabled(device.type):
        raise PascalError("autocast rounds what must be exact; run the network outside of torch.autocast")
