"""Accuracy of any classifier on any batches."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.inference import check_model, labelled_batches, run, undisturbed


@dataclass(frozen=True)
class Evaluation:
    """What a model answered: one class per image, in the order of the batches."""

    predictions: Tensor
    labels: Tensor

    @property
    def images(self) -> int:
        """How many images were shown."""
        return len(self.labels)

    @property
    def correct(self) -> int:
        """How many were classified correctly."""
        return int((self.predictions == self.labels).sum())

    @property
    def accuracy(self) -> float:
        """correct / images."""
        return self.correct / self.images


def evaluate(model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], bar: bool = False) -> Evaluation:
    """Predictions in evaluation mode; the model is left as it came."""
    with undisturbed(check_model(model)):
        shown = labelled_batches(batches, "evaluate" if bar else "")
        answers = [(_predictions(run(model, images), images), labels.cpu()) for images, labels in shown]
    if not answers:
        raise PascalError("batches: got none, expected at least one image to evaluate")
    predictions, labels = zip(*answers, strict=True)
    return Evaluation(torch.cat(predictions), torch.cat(labels))


def _predictions(logits: Any, images: Tensor) -> Tensor:
    if not isinstance(logits, Tensor) or logits.ndim != 2 or len(logits) != len(images):
        got = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise PascalError(f"model: gave {got} for {len(images)} images, expected logits (N, classes)")
    if not bool(logits.isfinite().all()):
        raise PascalError(
            "model: gave NaN or infinite logits, expected finite ones; look at its weights and at the images"
        )
    return logits.argmax(1).cpu()
