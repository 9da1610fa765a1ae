"""When a training goes wrong: which epoch, step and layer."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from pascal.errors import PascalError


@contextmanager
def located(where: Callable[[], str], model: nn.Module) -> Iterator[None]:
    """Errors from within say where they happened, and running out of memory becomes one of ours."""
    try:
        yield
    except PascalError as error:
        raise PascalError(f"{where()}: {error}") from error
    except (RuntimeError, MemoryError) as error:
        if not _out_of_memory(error):
            raise
        layer = failing_layer(error, model)
        raise PascalError(f"{where()}, {layer}: out of memory; lower batch_size or the network's width") from error


def _out_of_memory(error: Exception) -> bool:
    told = isinstance(error, torch.OutOfMemoryError | MemoryError)
    return told or "can't allocate memory" in str(error)  # the CPU's allocator raises a plain RuntimeError


def failing_layer(error: BaseException, model: nn.Module) -> str:
    """The innermost layer whose forward pass raised the error, read from the traceback."""
    names = {id(module): name for name, module in model.named_modules() if name}
    layer, frame = "no layer (data, backward pass or optimiser)", error.__traceback__
    while frame is not None:
        name = names.get(id(frame.tb_frame.f_locals.get("self")))
        layer = f"layer {name!r}" if name else layer
        frame = frame.tb_next
    return layer


def check_loss(loss: float, model: nn.Module, images: Tensor) -> None:
    """Refuse a loss that is no number, naming the first layer whose output is none either."""
    if not -float("inf") < loss < float("inf"):
        layer = first_not_finite(model, images)
        raise PascalError(f"{layer}: the loss is {loss}; lower learning_rate, or look at the images of this step")


def first_not_finite(model: nn.Module, images: Tensor) -> str:
    """What first went wrong: the images, a weight, a layer's output, or only the loss."""
    if not _finite(images):
        return "images"
    for name, parameter in model.named_parameters():
        if not _finite(parameter):
            return f"weight {name!r}"
    blamed: list[str] = []

    def note(name: str) -> Callable[..., None]:
        def hook(module: nn.Module, arguments: Any, output: Any) -> None:
            if isinstance(output, Tensor) and not _finite(output):
                blamed.append(name)

        return hook

    hooks = [module.register_forward_hook(note(name)) for name, module in model.named_modules() if name]
    try:
        with torch.no_grad():
            model(images)
    finally:
        for handle in hooks:
            handle.remove()
    return f"layer {blamed[0]!r}" if blamed else "loss"


def check_finite(tensors: Mapping[str, Tensor]) -> None:
    """A state with anything that is no number must not replace a good checkpoint."""
    for name, tensor in tensors.items():
        if not _finite(tensor):
            raise PascalError(f"{name!r} is not finite; lower learning_rate (the last good checkpoint is kept)")


def _finite(tensor: Tensor) -> bool:
    return not tensor.is_floating_point() or bool(torch.isfinite(tensor).all())
