"""What a certificate speaks of: digests of networks and of images, and the versions that computed it."""

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch
from torch import Tensor, nn

from pascal.neurons import QCFS


def model_digest(model: nn.Module) -> str:
    """SHA-256 of modules (paths, classes, settings), parameters and buffers (name, type, shape, bytes)."""
    digest = hashlib.sha256()
    for path, module in model.named_modules():
        settings = f"levels={module.levels}" if isinstance(module, QCFS) else module.extra_repr()
        digest.update(f"{path}:{type(module).__name__}({settings})\n".encode())
    for name, value in sorted(model.state_dict().items()):
        digest.update(f"{name}:".encode())
        _update(digest, value)
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Of the packages whose arithmetic a certificate rests on."""
    return {"pascal": _installed("pascal-snn"), "python": platform.python_version(), "torch": torch.__version__}


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # run from its folder
        return "not installed"


class DataDigest:
    """SHA-256 of images in their order, however they are cut into batches."""

    def __init__(self) -> None:
        self._digest, self._kind = hashlib.sha256(), ""

    def add(self, images: Tensor) -> None:
        """The images of one batch; their type and shape enter whenever they change."""
        kind = f"{images.dtype}{tuple(images.shape[1:])}"
        if kind != self._kind:
            self._digest.update(kind.encode())
            self._kind = kind
        self._digest.update(bytes_of(images))

    def hexdigest(self) -> str:
        """Of all images so far."""
        return self._digest.hexdigest()


def _update(digest: Any, value: Any) -> None:
    if isinstance(value, Tensor):
        digest.update(f"{value.dtype}{tuple(value.shape)}".encode())
        digest.update(bytes_of(value))
    else:  # an extra state of the user's own kind
        digest.update(repr(value).encode())


def bytes_of(tensor: Tensor) -> Any:
    """The numbers of a tensor as bytes; a copy has strides of one, of one element too."""
    return tensor.detach().cpu().flatten().clone(memory_format=torch.contiguous_format).view(torch.uint8).numpy()
