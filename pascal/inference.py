"""A user's network is run and never changed, and batches are read in one way: the doors that every part shares."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from tqdm import tqdm

from pascal.errors import PascalError

BATCHES = "an iterable of image tensors or of (images, labels) pairs, a DataLoader, or one tensor of images"


def check_model(model: Any, name: str = "model") -> nn.Module:
    """`model` itself, if it is a network with numbers in it."""
    if isinstance(model, type):
        raise PascalError(f"{name}: got the class {model.__name__}, expected a network; make one: {model.__name__}(…)")
    if not isinstance(model, nn.Module):
        raise PascalError(f"{name}: got {_shown(model)}, expected a network, a torch.nn.Module")
    lazy = [path for path, parameter in model.named_parameters() if is_lazy(parameter)]
    if lazy:
        raise PascalError(f"{name}: {lazy[0]} has no shape yet, expected numbers; run the network once on images")
    return model


def image_batches(batches: Any, bar: str = "") -> Iterator[Tensor]:
    """The images of each batch, whatever stands beside them; behind a progress bar if it has a title."""
    for batch in _each(batches, bar):
        yield _images(batch[0] if _is_pair(batch) else batch)


def labelled_batches(batches: Any, bar: str = "") -> Iterator[tuple[Tensor, Tensor]]:
    """Images and one label for each, likewise."""
    for batch in _each(batches, bar):
        if not _is_pair(batch) or not isinstance(batch[1], Tensor):
            raise PascalError(f"batches: got {_shown(batch)}, expected (images, labels) pairs of tensors")
        images, labels = _images(batch[0]), batch[1]
        if len(labels.shape) != 1 or len(labels) != len(images) or labels.is_floating_point():
            got = f"{labels.dtype} labels of shape {tuple(labels.shape)} for {len(images)} images"
            raise PascalError(f"batches: got {got}, expected one whole number for each")
        yield images, labels


def _each(batches: Any, bar: str) -> Iterable[Any]:
    if isinstance(batches, Tensor):
        batches = (batches,)
    if isinstance(batches, str | bytes | dict) or not isinstance(batches, Iterable) or hasattr(batches, "__array__"):
        raise PascalError(f"batches: got {_shown(batches)}, expected {BATCHES}")
    return tqdm(batches, bar, leave=False, disable=None if bar else True)


def _is_pair(batch: Any) -> bool:
    return isinstance(batch, tuple | list) and len(batch) >= 2


def _images(images: Any) -> Tensor:
    if not isinstance(images, Tensor):
        raise PascalError(f"batches: got a batch that is {_shown(images)}, expected {BATCHES}")
    if images.ndim < 2 or images.numel() == 0:
        raise PascalError(
            f"images: got shape {tuple(images.shape)}, expected a batch of at least one image, (N, C, H, W)"
        )
    return images


def _shown(value: Any) -> str:
    """What was given, short enough for a message."""
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return f"a {str(value.dtype).removeprefix('torch.')} tensor of shape {tuple(value.shape)}"
    text = repr(value).partition("\n")[0]
    return f"{text if len(text) <= 40 else text[:40] + '…'} ({type(value).__name__})"


@contextmanager
def undisturbed(model: nn.Module) -> Iterator[None]:
    """Evaluation mode and no gradients inside; afterwards, whatever happened, modes and buffers are what they were."""
    modes = [(module, module.training) for module in model.modules()]
    buffers = [
        (module, name, buffer, buffer.clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]
    try:
        if any(training for _, training in modes):
            model.eval()
        with torch.no_grad():  # inference mode would leave tensors that a network keeps unfit for training
            yield
    finally:
        for module, training in modes:
            module.training = training
        for module, name, buffer, before in buffers:
            module._buffers[name] = buffer
            if not buffer.is_meta and not torch.equal(buffer, before):
                buffer.copy_(before)


def run(model: nn.Module, images: Tensor, call: Callable[[Tensor], Any] | None = None) -> Any:
    """What the network, or one of its methods, says of images in its own arithmetic.

    torch's random numbers stay where they were.
    """
    images = in_arithmetic_of(model, images)
    devices = [images.device] if images.device.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices):
            return (call or model)(images)
    except (PascalError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # networks raise what they like: shapes and types that do not fit, their own
        shape, fault = tuple(images.shape), " ".join(str(error).split())[:400]
        raise PascalError(
            f"images: got shape {shape}, {images.dtype}; {type(model).__name__} cannot run on them: {fault}"
        ) from error


def in_arithmetic_of(model: nn.Module, images: Tensor) -> Tensor:
    """Floating-point images in the type, and all images on the device, of the network's first numbers."""
    for tensor in chain(model.parameters(), model.buffers()):
        if tensor.is_floating_point():
            return images.to(tensor.device, tensor.dtype if images.is_floating_point() else images.dtype)
    return images
