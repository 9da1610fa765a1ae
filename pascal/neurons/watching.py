"""Look at what reaches every QCFS while a network runs; nothing of the network changes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from pascal.neurons.levels import registered_layers
from pascal.neurons.qcfs import QCFS

Watch = Callable[[str, QCFS, Tensor], Tensor | None]  # path, layer, preactivation → an output of its own, or None


@contextmanager
def watched(model: nn.Module, watch: Watch) -> Iterator[None]:
    """Inside, `watch` is called on each QCFS as it runs, and may put another output in the place of its own."""
    layers = registered_layers(model)
    hooks = [layer.register_forward_hook(_hook(watch, path), with_kwargs=True) for path, layer in layers.items()]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _hook(watch: Watch, path: str) -> Callable[..., Tensor | None]:
    def hook(layer: QCFS, arguments: tuple[Tensor, ...], keywords: dict[str, Any], output: Tensor) -> Tensor | None:
        return watch(path, layer, *arguments, **keywords)

    return hook
