"""What every neuron of a network does on a batch: the ANN's levels or the SNN's spike counts, by layer."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from pascal.graph.images import check_images, dtype_and_device
from pascal.neurons import QCFS


@dataclass(frozen=True)
class Observation:
    """Logits, counts by layer, and for an ANN each neuron's distance from the nearest level boundary, in steps."""

    logits: Tensor
    counts: dict[str, Tensor]
    distances: dict[str, Tensor] = field(default_factory=dict)


@torch.no_grad()
def observe(model: nn.Module, images: Tensor) -> Observation:
    """Run an ANN or an SNN on images, cast to the model's own arithmetic, and look at every neuron."""
    dtype, device = dtype_and_device(model)
    if images.is_floating_point():
        images = images.to(device, dtype)
    check_images(images, model)
    if hasattr(model, "record"):
        return Observation(*model.record(images))  # type: ignore[operator]
    return _observe_ann(model, images)


def _observe_ann(ann: nn.Module, images: Tensor) -> Observation:
    counts: dict[str, Tensor] = {}
    distances: dict[str, Tensor] = {}

    def look(path: str, qcfs: QCFS, preactivation: Tensor) -> None:
        path = _call_path(path, counts)
        counts[path] = qcfs.count(preactivation)
        position = preactivation / qcfs.step + 0.5
        distances[path] = (position - position.round()).abs_()

    hooks = [
        module.register_forward_pre_hook(_looking(look, path))
        for path, module in ann.named_modules()
        if isinstance(module, QCFS)
    ]
    try:
        logits = ann(images)
    finally:
        for hook in hooks:
            hook.remove()
    return Observation(logits, counts, distances)


def _looking(look: Any, path: str) -> Any:
    return lambda module, inputs: look(path, module, inputs[0])


def _call_path(path: str, seen: dict[str, Tensor]) -> str:
    """A QCFS called again is another layer of the SNN: path_2, path_3, …"""
    number, candidate = 1, path
    while candidate in seen:
        number += 1
        candidate = f"{path}_{number}"
    return candidate
