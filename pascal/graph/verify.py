"""The equivalence certificate: two networks compared neuron by neuron, layer by layer."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.graph.images import dtype_and_device
from pascal.graph.observe import Observation, observe


@dataclass(frozen=True)
class LayerVerification:
    """How one layer's spike counts compare with the ANN's levels."""

    path: str
    neurons: int = 0
    mismatches: int = 0
    boundary_distance: float | None = None  # of the mismatches, the farthest from a level boundary, in steps


@dataclass(frozen=True)
class Verification:
    """What was compared and what differed. `neurons` counts every neuron on every image."""

    images: int
    neurons: int
    count_mismatches: int
    prediction_mismatches: int
    max_logit_error: float
    first_divergence: str | None
    layers: tuple[LayerVerification, ...]
    dtype: str

    @property
    def passed(self) -> bool:
        """Whether every neuron and every prediction agreed."""
        return self.count_mismatches == 0 and self.prediction_mismatches == 0

    def to_json(self) -> str:
        """The certificate as JSON, with sorted keys."""
        return json.dumps({**asdict(self), "passed": self.passed}, indent=2, sort_keys=True) + "\n"


def verify(ann: nn.Module, snn: nn.Module, batches: Iterable[Any]) -> Verification:
    """Compare any two networks with the same layers: ANN and SNN, or two engines.

    `batches` yields image tensors, or (images, labels) pairs; any number of images is streamed.
    """
    for model, name in ((ann, "ann"), (snn, "snn")):
        if model.training:
            raise PascalError(f"{name} is in training mode; call {name}.eval() first")
    images, wrong, worst = 0, 0, 0.0
    layers: dict[str, LayerVerification] = {}
    for batch in batches:
        pixels = batch if isinstance(batch, Tensor) else batch[0]
        expected, got = observe(ann, pixels), observe(snn, pixels)
        _compare(layers, expected, got)
        images += len(pixels)
        wrong += int((expected.logits.argmax(-1) != got.logits.argmax(-1)).sum())
        worst = max(worst, _logit_error(expected.logits.double(), got.logits.double()))
    if images == 0:
        raise PascalError("batches: got no images, expected at least one batch")
    checked = tuple(layers.values())
    return Verification(
        images=images,
        neurons=sum(layer.neurons for layer in checked),
        count_mismatches=sum(layer.mismatches for layer in checked),
        prediction_mismatches=wrong,
        max_logit_error=worst,
        first_divergence=next((layer.path for layer in checked if layer.mismatches), None),
        layers=checked,
        dtype=str(dtype_and_device(snn)[0]).removeprefix("torch."),
    )


def _logit_error(expected: Tensor, got: Tensor) -> float:
    """The largest; a NaN would be no error at all."""
    for name, logits in (("ann", expected), ("snn", got)):
        if not bool(logits.isfinite().all()):
            raise PascalError(f"{name}: got NaN or infinite logits, expected finite ones; compute in float64")
    return float((expected - got.to(expected.device)).abs().max())


def _compare(layers: dict[str, LayerVerification], expected: Observation, got: Observation) -> None:
    if set(expected.counts) != set(got.counts):
        differing = sorted(set(expected.counts) ^ set(got.counts))
        raise PascalError(f"the two networks do not have the same layers: {differing}; convert this very network again")
    for path, count in expected.counts.items():
        if count.shape != got.counts[path].shape:
            shapes = tuple(count.shape), tuple(got.counts[path].shape)
            raise PascalError(f"{path}: shapes {shapes[0]} and {shapes[1]} differ; convert this very network again")
        differs = count != got.counts[path].to(count.device)
        before = layers.get(path, LayerVerification(path))
        layers[path] = replace(
            before,
            neurons=before.neurons + count.numel(),
            mismatches=before.mismatches + int(differs.sum()),
            boundary_distance=_farthest(before.boundary_distance, expected.distances.get(path), differs),
        )


def _farthest(before: float | None, distances: Tensor | None, differs: Tensor) -> float | None:
    if distances is None or not bool(differs.any()):
        return before
    return max(before or 0.0, float(torch.where(differs, distances, 0).max()))
