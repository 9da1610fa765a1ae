"""Watch the QCFS layers of a network while images pass through it; nothing of the network changes."""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn
from tqdm import tqdm

from pascal.errors import PascalError
from pascal.neurons import QCFS

Batches = Iterable[tuple[Tensor, Tensor]]
Watch = Callable[
    [str, QCFS, Tensor], Tensor | None
]  # layer's name, layer, preactivation → an output of its own, or None


def qcfs_layers(model: nn.Module) -> dict[str, QCFS]:
    """The QCFS layers by name."""
    layers = {name: module for name, module in model.named_modules() if isinstance(module, QCFS)}
    if not layers:
        raise PascalError("model: has no QCFS layer; quantize it first")
    return layers


@torch.inference_mode()
def observe(model: nn.Module, batches: Batches, watch: Watch, bar: bool = False) -> int:
    """Call `watch` on each QCFS layer as it runs, in evaluation mode; how many images passed."""
    modes = {module: module.training for module in model.modules()}
    hooks = [layer.register_forward_hook(_hook(watch, name)) for name, layer in qcfs_layers(model).items()]
    model.eval()
    images_seen = 0
    try:
        for images, _ in tqdm(batches, "observe", leave=False, disable=None if bar else True):
            model(images)
            images_seen += len(images)
    finally:
        for module, mode in modes.items():
            module.training = mode
        for hook in hooks:
            hook.remove()
    if not images_seen:
        raise PascalError("batches: got none, expected at least one image (an iterator is spent after one pass)")
    return images_seen


def _hook(watch: Watch, name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], Tensor | None]:
    def hook(layer: nn.Module, arguments: tuple[Tensor, ...], output: Tensor) -> Tensor | None:
        assert isinstance(layer, QCFS)
        return watch(name, layer, arguments[0])

    return hook
