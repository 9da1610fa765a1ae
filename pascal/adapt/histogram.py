"""How often each level is reached, per QCFS layer (Algorithm 3, lines 1–2)."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pascal.adapt.observe import Batches, observe
from pascal.neurons import QCFS

Histogram = np.ndarray[Any, np.dtype[np.int64]]


def level_histograms(model: nn.Module, batches: Batches, bar: bool = False) -> dict[str, Histogram]:
    """Neurons per level 0..L over all images, by layer in forward order; memory O(layers × L), no activation kept."""
    histograms: dict[str, Tensor] = {}

    def count(name: str, layer: QCFS, preactivation: Tensor) -> None:
        found = torch.bincount(layer.count(preactivation).flatten(), minlength=layer.levels + 1).cpu()
        histograms[name] = histograms[name] + found if name in histograms else found

    observe(model, batches, count, bar)
    return {name: histogram.numpy() for name, histogram in histograms.items()}
