"""How often each level is reached, per QCFS layer (Algorithm 3, lines 1–2)."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pascal.adapt.observe import Batches, observe
from pascal.errors import PascalError
from pascal.neurons import QCFS
from pascal.neurons.qcfs import spelled

Histogram = np.ndarray[Any, np.dtype[np.int64]]

_REMEDY = "look at the images and at the weights up to this layer, or train again with a lower learning_rate"


def level_histograms(model: nn.Module, batches: Batches, bar: bool = False) -> dict[str, Histogram]:
    """Neurons per level 0..L over all images, by layer in forward order; memory O(layers × L), no activation kept."""
    histograms: dict[str, Tensor] = {}

    def count(name: str, layer: QCFS, preactivation: Tensor) -> None:
        _check_finite(name, layer, preactivation)
        found = torch.bincount(layer.count(preactivation).flatten(), minlength=layer.levels + 1).cpu()
        histograms[name] = histograms[name] + found if name in histograms else found

    observe(model, batches, count, bar)
    return {name: histogram.numpy() for name, histogram in histograms.items()}


def _check_finite(name: str, layer: QCFS, preactivation: Tensor) -> None:
    """What is no number reaches no level."""
    if not layer.threshold.isfinite().all():
        raise PascalError(
            f"layer {name!r}: threshold is {spelled(layer.threshold)}, expected a finite number; {_REMEDY}"
        )
    if not preactivation.isfinite().all():
        raise PascalError(f"layer {name!r}: preactivations are infinite or NaN, expected finite numbers; {_REMEDY}")
