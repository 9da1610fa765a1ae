"""Early exit: an image is answered as soon as its evidence suffices, on the plain neurons of QCFS.

SEENN-I (Li et al., NeurIPS 2023) and Dynamic Confidence (Li et al., ICCV 2023) differ in the temperature alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pascal.baselines.method import Answer, Field, Times
from pascal.baselines.plain import Plain
from pascal.graph.observe import observe

THRESHOLDS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


def confidences(logits: Tensor, temperature: float) -> Tensor:
    """max softmax(O_t / τ) of the evidence O_t = Σ o(1 … t), from the mean logits after each timestep.

    Shape: (T, N, classes) → (T, N).
    """
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


class EarlyExit(Plain):
    """Its threshold is chosen on calibration images; the whole grid is reported beside the chosen one."""

    needs = ("calibration",)
    temperature: float

    def __init__(self, ann: nn.Module, field: Field) -> None:
        super().__init__(ann, field)
        chosen = self._choose(ann, list(self.given(field, "calibration")))
        self.answers = tuple(
            Answer(f"confidence > {threshold:g}", self._exits(threshold), chosen=threshold == chosen)
            for threshold in THRESHOLDS
        )

    def _exits(self, threshold: float) -> Times:
        return lambda logits: exit_times(confidences(logits, self.temperature), threshold)

    def _choose(self, ann: nn.Module, batches: list[Tensor]) -> float:
        logits = torch.cat([self.run(images).logits for images in batches], dim=1)
        expected = torch.cat([observe(ann, images).logits.argmax(-1) for images in batches])

        def agreement(times: Tensor) -> float:
            answers = logits.argmax(-1).gather(0, times[None] - 1)[0]
            return float((answers == expected).double().mean())

        points = [self._point(threshold, logits, agreement) for threshold in THRESHOLDS]
        full = agreement(torch.full_like(expected, len(logits)))
        return fastest_without_loss(points, full).threshold

    def _point(self, threshold: float, logits: Tensor, agreement: Callable[[Tensor], float]) -> ExitPoint:
        times = self._exits(threshold)(logits)
        return ExitPoint(threshold, float(times.double().mean()), agreement(times))


class SEENN(EarlyExit):
    """SEENN-I: the evidence is divided by 8, as its code does."""

    name = "seenn"
    paper = "SEENN-I, NeurIPS 2023"
    label = "SEENN-I"
    temperature = 8.0


class DynamicConfidence(EarlyExit):
    """Evidence smoothed so strongly that the threshold hardly matters."""

    name = "confidence"
    paper = "Dynamic Confidence, ICCV 2023"
    label = "Dynamic Confidence"
    temperature = 30.0
