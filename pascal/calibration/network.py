"""`calibrate`: the layers of a quantised ReLU network in forward order, each fitted on the quantised layers before it.

The float network is the same one with a ReLU (or its clip) in the place of every QCFS. Both are run segment by segment
on stored values, so that the cost is linear in layers and in images; no label and no gradient is needed.
"""

import copy
from collections.abc import Iterable, Iterator
from functools import partial
from time import process_time
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from pascal.calibration.auto import Fit, fit_best
from pascal.calibration.bounds import METHODS, least_images
from pascal.calibration.records import Calibration, LayerCalibration
from pascal.calibration.segment import Segment
from pascal.calibration.state import folded
from pascal.calibration.store import Store
from pascal.calibration.thresholds import check_percentile
from pascal.checks import check_whole
from pascal.errors import PascalError
from pascal.graph.images import check_images
from pascal.graph.segments import parts_of
from pascal.inference import check_model, image_batches, in_arithmetic_of, run
from pascal.neurons.levels import registered_layers

MOST_PIXELS = 2**22  # of a batch: larger ones are cut, since memory grows with what is run at once


def calibrate(
    ann: nn.Module, batches: Any, method: str = "ridge", percentile: float = 99.9, seed: int = 0, bar: bool = False
) -> Calibration:
    """A copy of a quantised ReLU network with thresholds, and weights, fitted to images without labels.

    "max", "percentile" and "mse" give one threshold per layer, "channel" one per channel by the least squared error;
    "ridge" also corrects the weights for what quantisation upstream took away. "auto" takes the best of them on
    held-out images, by the divergence of the outputs from the float network's.
    """
    if method not in (*METHODS, "auto"):
        raise PascalError(f"method: got {method!r}, expected one of {(*METHODS, 'auto')}")
    check_percentile(percentile)
    check_whole(seed, "seed", least=0)
    began = process_time()
    network = folded(copy.deepcopy(check_model(ann, "ann")).eval())
    with Store() as store:
        images = Images(store, network, batches)
        if images.count < (least := least_images(method)):
            got = f"got {images.count} images, expected at least {least}"
            raise PascalError(f"batches: {got}; give more, or use method='mse'")
        by: Fit = partial(fit, percentile=percentile, seed=seed, bar=bar)
        if method == "auto":
            method, network, layers, tried = fit_best(network, float_twin(network), images, by)
        else:
            layers, tried = by(network, images, method), {}
    return Calibration(network.requires_grad_(True), method, images.count, process_time() - began, layers, tried)


class Images:
    """The images, checked as they come, read as often as needed."""

    def __init__(self, store: Store, network: nn.Module, batches: Any) -> None:
        self.store, self.count, self.batches = store, 0, 0
        for batch in image_batches(batches):
            batch = _checked(network, in_arithmetic_of(network, batch))
            for part in batch.split(max(1, MOST_PIXELS // batch[0].numel())):
                store["image", "", self.batches] = part
                self.count, self.batches = self.count + len(part), self.batches + 1

    def __iter__(self) -> Iterator[Tensor]:
        return (self.store["image", "", batch] for batch in range(self.batches))


def _checked(network: nn.Module, images: Tensor) -> Tensor:
    check_images(images, network)
    smallest, largest = float(images.min()), float(images.max())
    if largest > 100 and smallest >= 0:  # bytes, also where a resize has made fractions of them
        raise PascalError(
            f"images: got pixels from {smallest:g} to {largest:g}, expected them scaled and normalised as the network "
            "was trained with"
        )
    return images


def fit(
    network: nn.Module,
    images: Iterable[Tensor],
    method: str,
    percentile: float = 99.9,
    seed: int = 0,
    bar: bool = False,
) -> tuple[LayerCalibration, ...]:
    """Calibrate in place, segment by segment."""
    reference = float_twin(network)
    run(reference, next(iter(images))[:1])  # images that do not fit are refused here, in words
    parts = parts_of(network)  # type: ignore[arg-type]
    layers = []
    with Store() as store, torch.no_grad():
        for number, part in enumerate(tqdm(parts, "calibrate", leave=False, disable=None if bar else True)):
            if part.is_image:
                for batch, pixels in enumerate(images):
                    store["float", part.name, batch] = store["spiking", part.name, batch] = pixels
                batches = batch + 1
                continue
            generator = torch.Generator().manual_seed(seed + number)
            layer = Segment(part, network, reference, store, batches, generator).fit(method, percentile)
            layers += [layer] if layer else []
    return tuple(layers)


def float_twin(network: nn.Module) -> nn.Module:
    """The network with the activations that its QCFS stand for."""
    twin = copy.deepcopy(network)
    for path, layer in registered_layers(network).items():
        twin.set_submodule(path, nn.ReLU() if layer.clip is None else nn.Hardtanh(0.0, layer.clip))
    return twin.eval()
