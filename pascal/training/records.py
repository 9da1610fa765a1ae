"""Records of a training: one per epoch for the reader, one state for going on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class EpochRecord:
    """One row of `train.csv`. Accuracies are fractions; without validation images theirs is NaN."""

    epoch: int
    loss: float
    train_accuracy: float
    validation_accuracy: float
    learning_rate: float
    threshold_min: float
    threshold_max: float
    seconds: float


@dataclass(frozen=True)
class TrainingState:
    """All that the next step depends on: weights, momenta, the step's number, sums of the unfinished epoch.

    There is no random state: every random number follows from the seed and the step. `tensors` are the same to the
    bit whenever seed, schedule and levels are; what the clock measured stands beside them.
    """

    step: int
    steps_per_epoch: int
    tensors: Mapping[str, Tensor]
    records: tuple[EpochRecord, ...] = ()
    seconds: float = 0.0


@dataclass
class Tally:
    """Sums over the unfinished epoch."""

    loss: float = 0.0
    correct: float = 0.0
    images: float = 0.0
    seconds: float = 0.0

    def add(self, loss: float, correct: int, images: int) -> None:
        """Count one batch, whose `loss` is a mean over its images."""
        self.loss += loss * images
        self.correct += correct
        self.images += images

    @property
    def mean_loss(self) -> float:
        """Loss per image."""
        return self.loss / self.images if self.images else math.nan

    @property
    def accuracy(self) -> float:
        """Fraction of images classified correctly."""
        return self.correct / self.images if self.images else math.nan
