"""Thresholds for fewer levels: kept from four levels on, below that fitted, because one step must serve all values."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pascal.adapt.observe import observe
from pascal.neurons import QCFS
from pascal.neurons.channels import along_channels
from pascal.planning.network import Assignment, Network, Setting
from pascal.planning.sensitivity import Judge

KEPT_FROM = 4  # re-fitting costs accuracy from here on
_BINS, _RANGE = 2048, 2.0  # of preactivations in units of the threshold; what is above saturates anyway
_SCALES = np.linspace(0.05, 1.5, 146)  # multiples of the threshold tried for the least squared error
_FIT_SHARE = 4  # one in so many of the images chooses among thresholds
_AROUND = (0.7, 1.0, 1.4)  # multiples of the least-squares threshold tried for the least loss, at one level

Array = np.ndarray[Any, np.dtype[np.float64]]
Scales = dict[tuple[str, int], float]  # by layer and levels


def fit_scales(judge: Judge, point: Assignment, wanted: Iterable[tuple[str, int]], squares: Scales) -> Scales:
    """The best thresholds of some layers at some levels, as multiples of their own, by the loss around a point."""
    layers = judge.network.layers
    tried = {key: _tried(key[1], squares.get(key, 1.0), layers[key[0]].levels) for key in wanted}
    open_ones = {key: scales for key, scales in tried.items() if len(scales) > 1}
    changes = [(path, Setting(levels, scale)) for (path, levels), scales in open_ones.items() for scale in scales]
    found = judge.sensitivity(point, dict.fromkeys(changes), first=max(len(judge.images) // _FIT_SHARE, 1))

    def best(path: str, levels: int, scales: Sequence[float]) -> float:
        return min(scales, key=lambda scale: found.score((path, Setting(levels, scale))).mean)

    return {key: best(*key, scales) if key in open_ones else scales[0] for key, scales in tried.items()}


def _tried(levels: int, scale: float, start: int) -> Sequence[float]:
    """Kept or least squares; with a single level the kept one is far off, and a search around the fit replaces it."""
    if levels == start or levels >= KEPT_FROM:
        return (1.0,)
    return (1.0, scale) if levels > 1 else [round(scale * factor, 4) for factor in _AROUND]


def least_squares(network: Network, images: Tensor, values: Sequence[int]) -> Scales:
    """min over m of Σ (h(z) − h'(z))², h the start's activation and h' that of so many levels and threshold m·θ."""
    histograms = _preactivations(network, images)
    return {
        (path, levels): _by_error(histograms[path], layer.levels, levels)
        for path, layer in network.layers.items()
        for levels in values
    }


def _preactivations(network: Network, images: Tensor) -> dict[str, Array]:
    found: dict[str, Tensor] = {}

    def note(name: str, layer: QCFS, preactivation: Tensor) -> None:
        relative = preactivation / along_channels(layer.step * layer.levels, preactivation)
        histogram = torch.histc(relative.clamp(max=_RANGE)[relative > 0].float(), _BINS, 0, _RANGE).double().cpu()
        found[name] = found[name] + histogram if name in found else histogram

    ann = network.copy(network.start)
    observe(ann, [(piece, piece) for piece in images.split(network.piece)], note)
    return {name: histogram.numpy() for name, histogram in found.items()}


def _by_error(histogram: Array, start: int, levels: int) -> float:
    centres = (np.arange(_BINS) + 0.5) / _BINS * _RANGE
    steps = _SCALES[:, None] / levels
    wanted = np.clip(np.floor(centres * start + 0.5), 0, start) / start
    given = steps * np.clip(np.floor(centres / steps + 0.5), 0, levels)
    errors = (histogram * (wanted - given) ** 2).sum(1)
    return float(_SCALES[np.argmin(errors)]) if histogram.any() else 1.0  # a silent layer keeps its own
