"""A network with other levels for methods that need them: thresholds refitted to what the trained network puts out."""

import copy
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from pascal.graph import get_levels, set_levels
from pascal.graph.observe import observe
from pascal.inference import check_model, image_batches
from pascal.neurons import QCFS, qcfs_count
from pascal.neurons.channels import along_channels
from pascal.neurons.levels import registered_layers
from pascal.neurons.watching import watched

CANDIDATES = 9  # from the old step to the old threshold


def with_whole_bits(ann: nn.Module, calibration: Iterable[Any]) -> nn.Module:
    """A copy with 2ⁿ − 1 levels in each layer, the most that it had or fewer, for `radix`."""
    levels = {layer: 2 ** (value + 1).bit_length() // 2 - 1 for layer, value in get_levels(ann).items()}
    return refitted(ann, levels, calibration)


@torch.no_grad()
def refitted(ann: nn.Module, levels: dict[str, int], calibration: Iterable[Any]) -> nn.Module:
    """A copy with these levels; of each layer's threshold the share with the least squared error on these images."""
    twin = copy.deepcopy(check_model(ann, "ann"))
    errors: dict[str, Tensor] = {}

    def look(path: str, qcfs: QCFS, preactivation: Tensor) -> None:
        found = torch.stack([_error(qcfs, levels[path], share, preactivation) for share in _shares(qcfs, levels[path])])
        errors[path] = errors.get(path, torch.zeros_like(found)) + found

    with watched(ann, look):
        for images in image_batches(calibration):
            observe(ann, images)
    set_levels(twin, levels)
    for path, layer in registered_layers(twin).items():
        before = registered_layers(ann)[path]
        layer.threshold = before.threshold * _shares(before, levels[path])[int(errors[path].argmin())]
    return twin


def _shares(qcfs: QCFS, levels: int) -> list[float]:
    """Of the threshold: those that keep the step, or the threshold, and some between."""
    return torch.linspace(levels / qcfs.levels, 1.0, CANDIDATES, dtype=torch.float64).tolist()


def _error(qcfs: QCFS, levels: int, share: float, preactivation: Tensor) -> Tensor:
    old = along_channels(qcfs.step, preactivation)
    step = along_channels(qcfs.threshold * share / levels, preactivation)
    wanted = qcfs.count(preactivation) * old
    return (qcfs_count(preactivation, step, levels) * step - wanted).double().square().sum()
