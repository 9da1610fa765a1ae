"""What a setting costs the output: KL(start ‖ changed), measured around an operating point, image by image."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor
from tqdm import tqdm

from pascal.errors import PascalError
from pascal.planning.network import Assignment, Change, Network


@dataclass(frozen=True)
class Score:
    """The mean change of the loss, and the standard error of that mean over images."""

    mean: float
    error: float


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Losses per image at an operating point, and with one layer changed."""

    point: Assignment
    loss: Tensor  # (images,)
    changed: dict[Change, Tensor]  # each (images,)

    def score(self, change: Change) -> Score:
        """How much a change adds to the loss; its error is that of the paired difference."""
        if self.point[change[0]] == change[1]:
            return Score(0.0, 0.0)
        return paired(self.changed[change], self.loss)


class Judge:
    """The start network's outputs on some images, which every other assignment is compared with."""

    def __init__(self, network: Network, images: Tensor, bar: bool = False) -> None:
        self.network, self.images, self._bar = network, images, bar
        logits = network.logits(images, network.start)
        if not logits.isfinite().all():
            raise PascalError(
                "ann: its outputs are infinite or NaN on these images; look at its weights, thresholds and the images"
            )
        self._reference = logits.double().log_softmax(1)
        self._predictions = logits.argmax(1)
        self._seen: dict[tuple[Change, ...], tuple[Tensor, float]] = {}

    def loss(self, assignment: Assignment) -> Tensor:
        """KL(start ‖ assignment) of each image, in nats."""
        return self._of(assignment)[0]

    def agreement(self, assignment: Assignment) -> float:
        """The share of images whose prediction is the start's."""
        return self._of(assignment)[1]

    def _of(self, assignment: Assignment) -> tuple[Tensor, float]:
        key = tuple(assignment.items())
        if key not in self._seen:
            logits = self.network.logits(self.images, assignment)
            agreement = float((logits.argmax(1) == self._predictions).double().mean())
            self._seen[key] = self._divergence(logits, slice(None)), agreement
        return self._seen[key]

    def sensitivity(self, point: Assignment, changes: Iterable[Change], first: int | None = None) -> Sensitivity:
        """The loss with each change made alone, on the first images or on all."""
        images, changes = self.images[:first], [change for change in changes if point[change[0]] != change[1]]
        if not changes:
            return Sensitivity(point, self.loss(point)[:first], {})
        loss = torch.zeros(len(images), dtype=torch.float64)
        changed = {change: torch.zeros_like(loss) for change in changes}
        pieces = -(-len(images) // self.network.piece)
        with tqdm(total=pieces * len(changes), desc="plan", leave=False, disable=None if self._bar else True) as bar:
            for change, where, logits in self.network.exchanges(images, point, changes, bar.update):
                (loss if change is None else changed[change])[where] = self._divergence(logits, where)
        return Sensitivity(point, loss, changed)

    def _divergence(self, logits: Tensor, where: slice) -> Tensor:
        reference = self._reference[where]
        terms = reference.exp() * (reference - logits.double().log_softmax(1))
        return terms.sum(1).reshape(len(terms), -1).mean(1).cpu()


def paired(ours: Tensor, theirs: Tensor) -> Score:
    """The mean of the differences image by image, and its standard error."""
    difference = ours - theirs
    error = float(difference.std()) / len(difference) ** 0.5 if len(difference) > 1 else float("inf")
    return Score(float(difference.mean()), error)
