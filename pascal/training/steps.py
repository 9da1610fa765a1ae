"""A training of so many steps, whatever an epoch has."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count, islice

from torch import Tensor

from pascal.errors import PascalError
from pascal.training.loop import EpochBatches


@dataclass(frozen=True)
class FirstSteps:
    """One epoch of so many steps: the first of these batches; where their own epochs are shorter, of several."""

    batches: EpochBatches
    steps: int

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise PascalError(f"steps: got {self.steps}, expected a whole number >= 1")

    def __len__(self) -> int:
        return self.steps

    def epoch(self, epoch: int, start: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
        """The batches from step `start` on."""
        first, within = divmod(epoch * self.steps + start, len(self.batches))
        later = (self.batches.epoch(following) for following in count(first + 1))
        return islice(chain(self.batches.epoch(first, within), chain.from_iterable(later)), self.steps - start)
