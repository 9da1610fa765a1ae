"""Early exit: an image is answered as soon as its evidence suffices, on the plain neurons of QCFS.

SEENN-I (Li et al., NeurIPS 2023) and Dynamic Confidence (Li et al., ICCV 2023) differ in the temperature alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import torch
from torch import Tensor, nn

from pascal.baselines.ftbc import TemporalBias
from pascal.baselines.method import Answer, Field, Method, Seen, Times, check_timesteps, given
from pascal.baselines.network import Outcome
from pascal.baselines.plain import Plain
from pascal.errors import PascalError
from pascal.graph.observe import observe
from pascal.inference import image_batches

THRESHOLDS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
MOST_FTBC = 8  # timesteps of the biased neurons that answers are read from


def confidences(logits: Tensor, temperature: float) -> Tensor:
    """max softmax(O_t / τ) of the evidence O_t = Σ o(1 … t), from the mean logits after each timestep.

    τ = ∞ stands for the mean logits themselves. Shape: (T, N, classes) → (T, N).
    """
    if temperature == inf:
        return logits.softmax(-1).amax(-1)
    timesteps = torch.arange(1, len(logits) + 1, device=logits.device, dtype=logits.dtype)
    return (logits * (timesteps / temperature)[:, None, None]).softmax(-1).amax(-1)


def exit_times(confidence: Tensor, threshold: float) -> Tensor:
    """The first timestep, from 1, whose confidence lies above the threshold; the last where none does.

    Shape: (T, N) → (N).
    """
    confident = confidence > threshold
    confident[-1] = True
    return confident.int().argmax(0) + 1


def oracle_times(logits: Tensor, labels: Tensor) -> Tensor:
    """The first timestep at which each image is answered rightly; the last where it never is: no rule can be faster."""
    right = logits.argmax(-1) == labels
    right[-1] = True
    return right.int().argmax(0) + 1


@dataclass(frozen=True)
class ExitPoint:
    """What one confidence threshold gives on the calibration images: mean timesteps, agreement with the ANN."""

    threshold: float
    timesteps: float
    agreement: float


def fastest_without_loss(points: Sequence[ExitPoint], full_agreement: float) -> ExitPoint:
    """The fastest point that agrees as often as all timesteps do; if none does, the one that agrees most."""
    lossless = [point for point in points if point.agreement >= full_agreement]
    if lossless:
        return min(lossless, key=lambda point: (point.timesteps, point.threshold))
    return max(points, key=lambda point: (point.agreement, -point.timesteps))


class EarlyExit(Method):
    """Reads the logits of another method; its threshold is chosen on calibration images, the grid stands beside it."""

    needs = ("calibration",)
    temperature: ClassVar[float]  # as published
    others: ClassVar[tuple[float, ...]] = ()  # whose curves are reported too; inf is the evidence's mean
    oracle: ClassVar[bool] = False

    def __init__(self, ann: nn.Module, field: Field, base: Method | None = None) -> None:
        self.base = base or field.once((Plain.name, field.timesteps), lambda: Plain(ann, field))
        self.network, self.longest = self.base.network, self.base.longest
        self.label = type(self).label if base is None else f"{type(self).label} on {self.base.label}"
        images = list(image_batches(given(self.name, field, "calibration")))
        seen = field.once(
            self.base, lambda: self.base.seen(images, lambda batch: observe(ann, batch).logits.argmax(-1))
        )
        chosen = self._choose(seen)
        grid = [(self.temperature, chosen)] + [
            (temperature, threshold) for temperature in (self.temperature, *self.others) for threshold in THRESHOLDS
        ]
        self.answers = tuple(self._answer(*point, chosen=not place) for place, point in enumerate(grid)
                             if not place or point != grid[0])  # fmt: skip
        if self.oracle:
            self.answers += (Answer("oracle", _oracle, chosen=False),)

    @classmethod
    def variants(cls, ann: nn.Module, field: Field) -> Iterator[Method]:
        """On plain neurons, and on FTBC's."""
        yield cls(ann, field)
        timesteps = [each for each in check_timesteps(cls.name, field.timesteps) if each <= MOST_FTBC]
        if timesteps:
            yield cls(ann, field, TemporalBias.shared(ann, field, timesteps[-1]))

    @property
    def source(self) -> Method:
        return self.base

    def run(self, images: Tensor) -> Outcome:
        return self.base.run(images)

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return self.base.neuron_operations(levels, timesteps)

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return self.base.buffer_bits(levels, timesteps)

    def _answer(self, temperature: float, threshold: float, chosen: bool) -> Answer:
        smoothing = "" if temperature == self.temperature else f", τ = {temperature:g}"
        return Answer(f"confidence > {threshold:g}{smoothing}", self._exits(threshold, temperature), chosen=chosen)

    def _exits(self, threshold: float, temperature: float | None = None) -> Times:
        own = self.temperature if temperature is None else temperature
        return lambda seen: exit_times(confidences(seen.logits, own), threshold)

    def _choose(self, seen: Seen) -> float:
        def agreement(times: Tensor) -> float:
            answers = seen.logits.argmax(-1).gather(0, times[None] - 1)[0]
            return float((answers == seen.expected).double().mean())

        times = {threshold: self._exits(threshold)(seen) for threshold in THRESHOLDS}
        points = [ExitPoint(each, float(own.double().mean()), agreement(own)) for each, own in times.items()]
        return fastest_without_loss(points, agreement(seen.lasts)).threshold


def _predictions(ann: nn.Module) -> Callable[[Tensor], Tensor]:
    return lambda images: observe(ann, images).logits.argmax(-1)


def _oracle(seen: Seen) -> Tensor:
    if seen.labels is None:
        raise PascalError("the oracle needs labels; give batches of (images, labels)")
    return oracle_times(seen.logits, seen.labels)


class SEENN(EarlyExit):
    """SEENN-I: the evidence is divided by 8, as its code does."""

    name = "seenn"
    paper = "SEENN-I, NeurIPS 2023"
    label = "SEENN-I"
    temperature = 8.0
    others = (1.0, 4.0, 16.0, inf)


class DynamicConfidence(EarlyExit):
    """Evidence smoothed so strongly that the threshold hardly matters; beside it what no rule can beat."""

    name = "confidence"
    paper = "Dynamic Confidence, ICCV 2023"
    label = "Dynamic Confidence"
    temperature = 30.0
    oracle = True
