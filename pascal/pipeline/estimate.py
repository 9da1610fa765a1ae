"""What a parameter file costs before it is queued, from the times and memory that jobs of earlier runs recorded.

Of a stage that shows images to a network, time is a start and then in proportion to multiply-accumulates; of any other
it is that of the recorded jobs. Times are wall-clock: record them on the machine that you plan for.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from pascal.errors import PascalError
from pascal.graph import inspect
from pascal.networks import build_network
from pascal.pipeline import manifest
from pascal.pipeline.parameters.runs import Params, Run, Settings
from pascal.text import text_table
from pascal.training import retraining_epochs

# training images, test images, side, classes
_IMAGES = {
    "digits": (1437, 360, 32, 10),
    "cifar10": (50_000, 10_000, 32, 10),
    "cifar100": (50_000, 10_000, 32, 100),
    "imagenet": (1_281_167, 50_000, 224, 1000),
}
_TRAINING = 3  # forward, and twice as much backward
_START = ("given", "assign")  # stages that do little but start


@dataclass(frozen=True)
class Job:
    """One job of a stage, and its multiply-accumulates as far as they decide its time."""

    stage: str
    name: str  # as in the name of its record: run-seed
    macs: float


@dataclass(frozen=True)
class Recorded:
    """What Snakemake measured of one job."""

    seconds: float
    megabytes: float | None
    macs: float


@dataclass(frozen=True)
class StageCost:
    """What one stage of all runs takes, and how many recorded jobs say so; None where none does."""

    stage: str
    jobs: int
    recorded: int
    hours: float | None
    longest_hours: float | None
    megabytes: float | None

    def row(self) -> list[str]:
        """Its line of the table."""
        told = [_number(self.hours), _number(self.longest_hours), _number(self.megabytes, 0)]
        return [self.stage, str(self.jobs), *told, str(self.recorded) if self.recorded else "none: not counted"]


@dataclass(frozen=True)
class Estimate:
    """All stages, and how long they take side by side."""

    stages: tuple[StageCost, ...]
    slots: int

    @property
    def hours(self) -> float:
        """Of all jobs, one after another."""
        return sum(stage.hours or 0 for stage in self.stages)

    @property
    def longest_hours(self) -> float:
        """Of the longest job of each stage, one after another: no number of machines is faster."""
        return sum(stage.longest_hours or 0 for stage in self.stages)

    @property
    def elapsed_hours(self) -> float:
        """With as many jobs at once as there are slots, at the least."""
        return max(self.hours / self.slots, min(self.hours, self.longest_hours))

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        totals = {"hours": self.hours, "slots": self.slots, "elapsed_hours": self.elapsed_hours}
        return {"stages": [asdict(stage) for stage in self.stages], **totals}

    def __str__(self) -> str:
        rows = [each.row() for each in self.stages]
        lines = text_table(["stage", "jobs", "hours", "longest", "MB", "recorded jobs"], rows)
        lines.append(
            f"{self.hours:.2f} hours in all; {self.slots} at once: {self.elapsed_hours:.2f} hours at the least"
        )
        return "\n".join(lines)


def _number(value: float | None, digits: int = 3) -> str:
    return "?" if value is None else f"{value:.{digits}f}"


def estimate(params: Params, known: Params, times: Path, slots: int = 1) -> Estimate:
    """What `params` costs, by the records under `times` of jobs of the runs of `known`."""
    recorded = read_records(known, times)
    if not recorded:
        raise PascalError(
            f"--times: got {times}, which has no times of the runs of the recorded parameters, expected the "
            "logs/times of a pipeline that ran; run a small one first"
        )
    start = start_seconds(recorded)
    found: dict[str, list[Job]] = {}
    for job in jobs(params):
        found.setdefault(job.stage, []).append(job)
    stages = [_stage_cost(stage, each, recorded.get(stage, []), start) for stage, each in found.items()]
    return Estimate(tuple(stages), slots)


def start_seconds(recorded: Mapping[str, list[Recorded]]) -> float:
    """What a job takes before it computes anything."""
    found = [each.seconds for stage in _START for each in recorded.get(stage, ())]
    return median(found) if found else 0.0


def _stage_cost(stage: str, jobs: list[Job], recorded: list[Recorded], start: float) -> StageCost:
    if not recorded:
        return StageCost(stage, len(jobs), 0, None, None, None)
    hours = [seconds_of(job.macs, recorded, start) / 3600 for job in jobs]
    megabytes = max((each.megabytes for each in recorded if each.megabytes is not None), default=None)
    return StageCost(stage, len(jobs), len(recorded), sum(hours), max(hours), megabytes)


def seconds_of(macs: float, recorded: list[Recorded], start: float) -> float:
    """Time of a job by those of its stage."""
    rates = [max(each.seconds - start, 0) / each.macs for each in recorded if each.macs]
    return start + macs * median(rates) if rates else median(each.seconds for each in recorded)


def read_records(params: Params, times: Path, without: str = "") -> dict[str, list[Recorded]]:
    """What was measured of these runs, by stage; `without` one run, to check the others' estimate of it."""
    found: dict[str, list[Recorded]] = {}
    for job in jobs(params):
        measured = _snakemakes(times, job) or _published(times, job)
        if measured and job.name.rpartition("-")[0] != without:
            found.setdefault(job.stage, []).append(Recorded(*measured, job.macs))
    return found


def _snakemakes(times: Path, job: Job) -> tuple[float, float | None] | None:
    """Seconds and memory as Snakemake notes them under logs/times."""
    path = times / job.stage / f"{job.name}.tsv"
    if not path.exists():
        return None
    with path.open(encoding="utf-8") as file:
        row = next(csv.DictReader(file, delimiter="\t"))
    return float(row["s"]), None if row["max_rss"] == "NA" else float(row["max_rss"])


def _published(times: Path, job: Job) -> tuple[float, float | None] | None:
    """Seconds as results/reference has them, a file for each run and seed."""
    path = times / f"{job.name}.json"
    if not path.exists():
        return None
    seconds = json.loads(path.read_text(encoding="utf-8"))["seconds"].get(job.stage)
    return None if seconds is None else (float(seconds), None)


def jobs(params: Params) -> Iterator[Job]:
    """Every job of a stage of a run; those of all runs together take minutes and are left out."""
    for run in params.runs.values():
        stages = [stage for stage, about in manifest.STAGES.items() if run.kind in about.kinds]
        again = ["retrain"] if run.kind in manifest.ADAPTIVE and _retrains(run.settings) else []
        images = _macs(run, params)
        for stage in (*again, *stages):
            work = images(stage)
            for seed in params.seeds:
                yield Job(stage, f"{run.name}-{seed}", work)


def _retrains(settings: Settings) -> bool:
    return settings.adapt is not None and settings.adapt.finetune == "algorithm4"


def _macs(run: Run, params: Params) -> Callable[[str], float]:
    """Multiply-accumulates by stage."""
    settings, dataset = run.settings, params.datasets[run.settings.dataset]
    if dataset.source not in _IMAGES:
        raise PascalError(
            f"datasets.{settings.dataset}.source: got {dataset.source!r}, whose images plan-run cannot count, "
            f"expected one of {', '.join(_IMAGES)}; add it to pascal/pipeline/estimate.py"
        )
    train, test, side, classes = _IMAGES[str(dataset.source)]
    held_out = dataset.validation if dataset.validation is not None else 0
    image = network_macs(settings.network, settings.width, settings.pool, side, classes)
    shown = _shown(settings, test)
    epochs = _TRAINING * (train - held_out) + held_out

    def of(stage: str) -> float:
        return image * (epochs * _epochs(stage, run, params) if stage in _EPOCHS else shown.get(stage, 0.0))

    return of


_EPOCHS = ("train", "retrain", "finetune")


def _epochs(stage: str, run: Run, params: Params) -> int:
    settings = run.settings
    if stage == "train" or settings.adapt is None or not _retrains(settings):
        return settings.train.epochs
    before = retraining_epochs(settings.train.epochs, settings.adapt.p)
    if stage == "finetune":
        return settings.train.epochs - before
    same = run.start is not None and params.runs[run.start].settings.train == settings.train
    return 0 if same and settings.adapt.reuse else before


def _shown(settings: Settings, test: int) -> dict[str, float]:
    """Images times timesteps that stages show to a network."""
    plain = min(settings.evaluate.plain_images or test, test)
    rivals = len(settings.compare.methods or ()) * sum(settings.compare.timesteps)
    return {
        "histogram": float(settings.adapt.images if settings.adapt else 0),
        "verify": float(settings.verify.images * (1 + _levels(settings))),
        "evaluate": float(2 * test + plain * max(settings.evaluate.timesteps)),  # ANN, SNN; the longest holds all
        "workload": float(settings.workload.images * (1 + settings.workload.timesteps)),
        "compare": float(min(settings.compare.images or test, test) * rivals),
    }


def _levels(settings: Settings) -> int:
    return settings.levels if isinstance(settings.levels, int) else max(settings.levels)


@cache
def network_macs(name: str, width: float, pool: str, side: int, classes: int) -> int:
    """Multiply-accumulates of one image."""
    return inspect(build_network(name, classes, side, 4, width, pool)).macs
