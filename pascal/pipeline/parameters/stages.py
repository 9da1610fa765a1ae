"""What each stage depends on: the parts of a run's parameters that stand in its class, and nothing else."""

from collections.abc import Mapping
from types import NoneType
from typing import Any, get_args

from pascal.pipeline.parameters.adapt import Assignment, Finetuning, GivenLevels, Histograms, Planned, Retraining
from pascal.pipeline.parameters.base import Part
from pascal.pipeline.parameters.calibrate import Calibrate
from pascal.pipeline.parameters.costs import Energy, Hardware
from pascal.pipeline.parameters.measures import Evaluate, Verify, Workload
from pascal.pipeline.parameters.rivals import Compare
from pascal.pipeline.parameters.runs import Architecture, Beginning, Computing, Settings, Uniform
from pascal.pipeline.parameters.train import Loading, Train


class TrainStage(Architecture, Beginning, Computing):
    """Training from the beginning."""

    train: Train


class RetrainStage(TrainStage):
    """Training before levels change."""

    adapt: Retraining


class FinetuneStage(TrainStage):
    """Training after levels change."""

    adapt: Finetuning


class Showing(Architecture, Computing):
    """Showing images to a trained network."""

    train: Loading


class CalibrateStage(Showing, Beginning):
    """Calibration in the place of training."""

    calibrate: Calibrate


class HistogramStage(Showing):
    """Histograms of the start's network."""

    adapt: Histograms


class AssignStage(Part):
    """Levels by the metric."""

    adapt: Assignment


class PlanLevelsStage(Showing):
    """Levels by a plan."""

    adapt: Planned


class GivenStage(Architecture, Uniform):
    """Levels by hand, or the same everywhere."""

    adapt: GivenLevels | None


class ConvertStage(Architecture):
    """The spiking network."""


class VerifyStage(Showing):
    """The certificate."""

    verify: Verify


class EvaluateStage(Showing):
    """Accuracies."""

    evaluate: Evaluate


class WorkloadStage(Architecture):
    """Spike counts and traces."""

    threads: int
    workload: Workload


class EnergyStage(Part):
    """Joules by the equations."""

    energy: Energy


class HardwareStage(Part):
    """Cycles and joules by simulation."""

    hardware: Hardware


class CompareStage(Showing):
    """Rival methods."""

    compare: Compare


STAGES: Mapping[str, type[Part]] = {
    "train": TrainStage,
    "calibrate": CalibrateStage,
    "retrain": RetrainStage,
    "finetune": FinetuneStage,
    "histogram": HistogramStage,
    "assign": AssignStage,
    "plan_levels": PlanLevelsStage,
    "given": GivenStage,
    "convert": ConvertStage,
    "verify": VerifyStage,
    "evaluate": EvaluateStage,
    "workload": WorkloadStage,
    "energy": EnergyStage,
    "hardware": HardwareStage,
    "compare": CompareStage,
}


def stage_parts(settings: Settings) -> dict[str, Part]:
    """The parameters of each stage that a run has: one whose part says nothing to this run has none."""
    return {stage: _part(settings, model) for stage, model in STAGES.items() if _applies(settings, model)}


def _applies(settings: Settings, model: type[Part]) -> bool:
    fields = model.model_fields.items()
    return all(getattr(settings, name) is not None or NoneType in get_args(field.annotation) for name, field in fields)


def _part(value: Any, annotation: Any) -> Any:
    """`value` cut down to the keys of the part that the annotation names."""
    kinds = [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type) and issubclass(kind, Part)]
    if not kinds or not isinstance(value, Part):
        return value
    fields = kinds[0].model_fields.items()
    return kinds[0].model_construct(**{name: _part(getattr(value, name), field.annotation) for name, field in fields})
