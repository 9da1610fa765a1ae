"""The entries that MLflow gets: one for each run, below it one for each stage and seed."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from statistics import fmean
from typing import Any

from pascal.training import EpochRecord

from .sink import Curve, Entry, flatten
from .stage import read_json, read_rows
from .stamps import digest

_CURVES = tuple(field.name for field in fields(EpochRecord) if field.name != "epoch")
_ACCURACIES = ("ann_accuracy", "snn_accuracy", "prediction_mismatches")
_HARDWARE = ("cycles", "latency_ms_per_image", "energy_uj_per_image", "energy_uj_per_image_without_dram")


def run_entry(run: Mapping[str, Any], seeds: list[int], results: Path, commit: str) -> Entry:
    """A run of `params.yaml` with the means over its seeds, its figures and all tables."""
    name, settings = run["run"], run["settings"]
    homes = [results / name / str(seed) for seed in seeds]
    accuracies, energies = ([read_json(home / file) for home in homes] for file in ("accuracy.json", "energy.json"))
    metrics = {key: fmean(accuracy[key] for accuracy in accuracies) for key in _ACCURACIES}
    shared = [
        key for key in energies[0] if all(key in energy for energy in energies)
    ]  # some belong to uniform levels alone
    metrics |= {key: fmean(energy[key] for energy in energies) for key in shared}
    figures = [(str(file), "figures") for file in sorted((results / "figures" / name).glob("*.png"))]
    tables = [(str(file), "tables") for file in sorted((results / "tables").glob("*.csv"))]
    return Entry(
        key=digest({"run": name, "settings": settings, "seeds": seeds}),
        name=name,
        params=flatten(settings) | {"from": run["start"] or "", "seeds": seeds},
        metrics=metrics,
        artifacts=[*figures, *tables],
        tags=_tags(run, settings, commit) | {"stage": "all"},
    )


def stage_entries(run: Mapping[str, Any], seed: int, results: Path, commit: str) -> Iterator[Entry]:
    """What each stage of one seed found out."""
    home, settings = results / run["run"] / str(seed), run["settings"]
    stages: dict[str, tuple[Mapping[str, float], Mapping[str, Curve], list[str]]] = {
        "train": ({}, _epochs(home), ["train.csv"]),
        "assign": ({}, {}, ["levels.json", "metric.csv", "histogram.csv"]),
        "verify": (_numbers(read_json(home / "verify.json")), {}, ["verify.json"]),
        "evaluate": (_numbers(read_json(home / "accuracy.json")), _timesteps(home), ["accuracy.json"]),
        "energy": (_numbers(read_json(home / "energy.json")), {}, ["energy.csv"]),
        "hardware": (_hardware(home), {}, ["hardware.csv"]),
    }
    for stage, (metrics, curves, files) in stages.items():
        yield Entry(
            key=digest({"run": run["run"], "settings": settings, "seed": seed, "stage": stage}),
            name=f"{stage}, seed {seed}",
            params=flatten(settings) | {"seed": seed},
            metrics=metrics,
            curves=curves,
            artifacts=[(str(home / file), "") for file in files],
            tags=_tags(run, settings, commit) | {"stage": stage, "seed": str(seed)},
        )


def _tags(run: Mapping[str, Any], settings: Mapping[str, Any], commit: str) -> dict[str, str]:
    tags = {"run": run["run"], "kind": run["kind"], "digest": digest(settings)}
    return tags | ({"git_commit": commit} if commit else {})


def _epochs(home: Path) -> dict[str, Curve]:
    rows = read_rows(home / "train.csv")
    return {name: _finite([(int(row["epoch"]), float(row[name])) for row in rows]) for name in _CURVES}


def _timesteps(home: Path) -> dict[str, Curve]:
    rows = read_rows(home / "accuracy_vs_timesteps.csv")
    return {"plain_if_accuracy": [(int(row["timesteps"]), float(row["accuracy"])) for row in rows]}


def _hardware(home: Path) -> dict[str, float]:
    return {
        f"{row['preset']}_{row['machine']}_{row['neuron']}_{name}": float(row[name])
        for row in read_rows(home / "hardware.csv")
        for name in _HARDWARE
    }


def _numbers(found: Mapping[str, Any]) -> dict[str, float]:
    numbers = {name: value for name, value in found.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}


def _finite(curve: Curve) -> Curve:
    return [(step, value) for step, value in curve if math.isfinite(value)]
