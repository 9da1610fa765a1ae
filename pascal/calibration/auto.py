"""`method="auto"`: every method on four fifths of the images, judged on the others without labels."""

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pascal.calibration.bounds import METHODS
from pascal.calibration.records import LayerCalibration

HELD_OUT = 5  # every fifth image

Layers = tuple[LayerCalibration, ...]
Fit = Callable[[nn.Module, Iterable[Tensor], str], Layers]


def fit_best(
    network: nn.Module, reference: nn.Module, images: Iterable[Tensor], fit: Fit
) -> tuple[str, nn.Module, Layers, Mapping[str, float]]:
    """Method, network and layers with the least divergence on held-out images, and that of every method."""
    tried: dict[str, float] = {}
    for method in METHODS:
        trial = copy.deepcopy(network)
        layers = fit(trial, Share(images, held_out=False), method)
        found = divergence(reference, trial, Share(images, held_out=True))
        if found < min(tried.values(), default=math.inf):
            best = method, trial, layers
        tried[method] = found
    return *best, tried


@dataclass(frozen=True)
class Share:
    """Every fifth image, or the others."""

    images: Iterable[Tensor]
    held_out: bool

    def __iter__(self) -> Iterator[Tensor]:
        seen = 0
        for batch in self.images:
            chosen = (torch.arange(seen, seen + len(batch)) % HELD_OUT == 0) == self.held_out
            seen += len(batch)
            if bool(chosen.any()):
                yield batch[chosen.to(batch.device)]


@torch.no_grad()
def divergence(reference: nn.Module, network: nn.Module, batches: Iterable[Tensor]) -> float:
    """Mean KL(p of the float network ‖ p) of the outputs as class probabilities."""
    total, count = 0.0, 0
    for images in batches:
        wanted, got = (model(images).double().flatten(1).log_softmax(1) for model in (reference, network))
        total += float(nn.functional.kl_div(got, wanted, log_target=True, reduction="sum"))
        count += len(images)
    return total / count
