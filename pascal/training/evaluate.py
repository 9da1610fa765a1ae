"""Accuracy of any classifier on any batches."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from tqdm import tqdm

from pascal.errors import PascalError


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


@torch.inference_mode()
def evaluate(model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], bar: bool = False) -> Evaluation:
    """Predictions in evaluation mode; every module is left in the mode it came in."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        shown = tqdm(batches, "evaluate", leave=False, disable=None if bar else True)
        answers = [(model(images).argmax(1).cpu(), labels.cpu()) for images, labels in shown]
    finally:
        for module, mode in modes.items():
            module.training = mode
    if not answers:
        raise PascalError("batches: got none, expected at least one image to evaluate")
    predictions, labels = zip(*answers, strict=True)
    return Evaluation(torch.cat(predictions), torch.cat(labels))
