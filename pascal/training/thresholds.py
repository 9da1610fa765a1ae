"""The trainable thresholds of a model: found, decayed and watched. Any module with a `raw_threshold` counts."""

from typing import Protocol, cast

import torch
from torch import Tensor, nn

from pascal.errors import PascalError


class ThresholdLayer(Protocol):
    """A layer whose positive `threshold` θ is a function of its parameter `raw_threshold`."""

    raw_threshold: nn.Parameter

    @property
    def threshold(self) -> Tensor:
        """θ."""


def threshold_layers(model: nn.Module) -> dict[str, ThresholdLayer]:
    """The layers with a trainable threshold, by name."""
    found = {
        name: module
        for name, module in model.named_modules()
        if isinstance(getattr(module, "raw_threshold", None), nn.Parameter)
    }
    return cast(dict[str, ThresholdLayer], found)


def threshold_range(layers: dict[str, ThresholdLayer]) -> tuple[float, float]:
    """The smallest and the largest threshold; NaN for a network without any."""
    if not layers:
        return float("nan"), float("nan")
    with torch.no_grad():
        values = torch.cat([layer.threshold.flatten() for layer in layers.values()])
    return values.min().item(), values.max().item()


def check_thresholds(layers: dict[str, ThresholdLayer], limit: float) -> None:
    """Refuse thresholds outside [1/limit, limit], naming the layer: a collapsed one never recovers."""
    smallest, largest = threshold_range(layers)
    if not layers or (smallest >= 1 / limit and largest <= limit):  # NaN fails both
        return
    for name, layer in layers.items():
        outside = ~((layer.threshold >= 1 / limit) & (layer.threshold <= limit))
        if bool(outside.any()):
            value = layer.threshold[outside].flatten()[0].item()
            happened = "collapsed" if value < 1 / limit else "exploded"
            raise PascalError(
                f"layer {name!r}: threshold {happened} to {value:.6g}, expected {1 / limit:g} to {limit:g}; "
                "lower learning_rate or raise warmup_epochs"
            )


def decay_thresholds(layers: dict[str, ThresholdLayer], weight_decay: float) -> None:
    """Add to each gradient that of weight_decay/2 · θ²: the penalty is on θ, not on the parameter behind it."""
    trained = [layer for layer in layers.values() if layer.raw_threshold.grad is not None]
    if not trained:
        return
    penalty = torch.cat([layer.threshold.flatten() for layer in trained]).square().sum() * (weight_decay / 2)
    parameters = [layer.raw_threshold for layer in trained]
    for parameter, gradient in zip(parameters, torch.autograd.grad(penalty, parameters), strict=True):
        assert parameter.grad is not None
        parameter.grad.add_(gradient)
