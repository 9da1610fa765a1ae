"""Thresholds of a quantized ReLU network from training images: what each ReLU really puts out decides its θ."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pascal.adapt.observe import Batches, observe, qcfs_layers
from pascal.errors import PascalError
from pascal.neurons import QCFS

_BINS = 2048
_CANDIDATES = np.linspace(0.01, 1, 100)  # thresholds tried for the smallest error, as fractions of the maximum

Array = np.ndarray[Any, np.dtype[np.float64]]


def calibrate_thresholds(
    model: nn.Module, batches: Batches, method: str = "mse", percentile: float = 99.9, bar: bool = False
) -> dict[str, float]:
    """θ per layer by "max", by "percentile" of the positive activations, or by the least squared error of QCFS.

    The network runs as the ReLU network it was, in two passes with memory O(layers × bins).
    """
    if method not in ("max", "percentile", "mse"):
        raise PascalError(f"method: got {method!r}, expected 'max', 'percentile' or 'mse'")
    if not 0 < percentile <= 100:
        raise PascalError(f"percentile: got {percentile}, expected a number in (0, 100]")
    largest = _largest(model, batches, bar)
    if method == "max":
        return largest
    histograms, layers = _histograms(model, batches, largest, bar), qcfs_layers(model)
    if method == "percentile":
        return {name: largest[name] * _by_percentile(histograms[name], percentile) for name in largest}
    return {name: largest[name] * _by_error(histograms[name], layers[name].levels) for name in largest}


def set_thresholds(model: nn.Module, thresholds: dict[str, float]) -> None:
    """Give each QCFS layer its threshold, in place."""
    layers = qcfs_layers(model)
    differing = sorted(set(thresholds) ^ set(layers))
    if differing:
        raise PascalError(f"thresholds and network disagree on {differing}; name every QCFS layer once")
    for name, layer in layers.items():
        layer.threshold = thresholds[name]


def _largest(model: nn.Module, batches: Batches, bar: bool) -> dict[str, float]:
    found: dict[str, float] = {}

    def note(name: str, layer: QCFS, preactivation: Tensor) -> Tensor:
        found[name] = max(found.get(name, 0.0), preactivation.max().item())
        return preactivation.relu()

    observe(model, batches, note, bar)
    silent = [name for name, value in found.items() if not 0 < value < float("inf")]
    if silent:
        raise PascalError(f"layers {silent} put out nothing above 0, or no number, on these images; use other images")
    return found


def _histograms(model: nn.Module, batches: Batches, largest: dict[str, float], bar: bool) -> dict[str, Array]:
    """Of the positive activations, in equal bins from 0 to each layer's maximum."""
    found = {name: torch.zeros(_BINS, dtype=torch.float64) for name in largest}

    def note(name: str, layer: QCFS, preactivation: Tensor) -> Tensor:
        positive = preactivation[preactivation > 0].float()
        found[name] += torch.histc(positive, _BINS, 0, largest[name]).cpu()
        return preactivation.relu()

    observe(model, batches, note, bar)
    return {name: histogram.numpy() for name, histogram in found.items()}


def _by_percentile(histogram: Array, percentile: float) -> float:
    """The upper edge of the first bin up to which `percentile` of the activations lie; the maximum is 1."""
    covered = np.cumsum(histogram)
    bin_above = int(np.searchsorted(covered, covered[-1] * percentile / 100)) + 1
    return min(bin_above, _BINS) / _BINS


def _by_error(histogram: Array, levels: int) -> float:
    """min over θ of Σ (x − h(x))², h(x) = θ/L · clip(⌊xL/θ + ½⌋, 0, L), with x the bins' centres."""
    centres = (np.arange(_BINS) + 0.5) / _BINS
    steps = _CANDIDATES[:, None] / levels
    quantized = steps * np.clip(np.floor(centres / steps + 0.5), 0, levels)
    errors = (histogram * (centres - quantized) ** 2).sum(1)
    return float(_CANDIDATES[np.argmin(errors)])
