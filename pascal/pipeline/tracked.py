"""The entries that MLflow gets: one for each run, below it one for each stage and seed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from pascal.pipeline.canonical import digest
from pascal.pipeline.manifest import STAGES, File, outputs
from pascal.pipeline.sink import Curve, Entry, flatten
from pascal.pipeline.stage import read_json, read_rows
from pascal.pipeline.times import seconds

if TYPE_CHECKING:
    from pascal.pipeline.parameters.files import ReportedRun


def run_entry(run: "ReportedRun", seeds: Sequence[int], results: Path, commit: str) -> Entry:
    """A run of `params.yaml` with means and spread over its seeds, its figures and all tables."""
    name, settings = run.run, run.settings.model_dump(mode="json")
    homes = [results / name / str(seed) for seed in seeds]
    found = [_numbers_of(run.kind, home, ("evaluate", "energy")) for home in homes]
    certificates = [_numbers_of(run.kind, home, ("verify",)) for home in homes]
    counts = {key: sum(numbers[key] for numbers in certificates) for key in ("neurons", "count_mismatches")}
    figures = [(f"{stem}.png", "figures") for stem in outputs("figures", name, run.kind)]
    tables = [(f"{stem}.csv", "tables") for stem in outputs("tables")]
    return Entry(
        key=digest({"run": name, "settings": settings, "seeds": list(seeds)}),
        name=name,
        params=flatten(settings) | {"from": run.start or "", "seeds": list(seeds)},
        metrics=_over_seeds(found) | counts,
        artifacts=[*figures, *tables],
        tags=_tags(run, settings, commit) | {"stage": "all"},
        seconds=seconds(name, seeds),
    )


def stage_entries(run: "ReportedRun", seed: int, results: Path, commit: str) -> Iterator[Entry]:
    """What each stage of one seed found out."""
    home, settings = results / run.run / str(seed), run.settings.model_dump(mode="json")
    for tracked in dict.fromkeys(stage.tracked for stage in STAGES.values() if stage.tracked):
        files = _files(run.kind, tracked)
        yield Entry(
            key=digest({"run": run.run, "settings": settings, "seed": seed, "stage": tracked}),
            name=f"{tracked}, seed {seed}",
            params=flatten(settings) | {"seed": seed},
            metrics=_numbers_of(run.kind, home, (tracked,)),
            curves={name: curve for file in files if file.curves for name, curve in _curves(home, file).items()},
            artifacts=[(str(home / file.path), "") for file in files if file.path.endswith((".csv", ".json"))],
            tags=_tags(run, settings, commit) | {"stage": tracked, "seed": str(seed)},
            seconds=seconds(run.run, [seed], [name for name, stage in STAGES.items() if stage.tracked == tracked]),
        )


def _over_seeds(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means of the numbers that every seed has, and of several seeds the sample deviation as `…_std`."""
    shared = {key: [numbers[key] for numbers in found] for key in found[0] if all(key in numbers for numbers in found)}
    spread = {f"{key}_std": stdev(values) for key, values in shared.items() if len(values) > 1}
    return {key: fmean(values) for key, values in shared.items()} | spread


def _tags(run: "ReportedRun", settings: Mapping[str, Any], commit: str) -> dict[str, str]:
    tags = {"run": run.run, "kind": run.kind, "digest": digest(settings)}
    return tags | ({"git_commit": commit} if commit else {})


def _files(kind: str, tracked: str) -> list[File]:
    """Those of the stages that one entry shows."""
    stages = [stage for stage in STAGES.values() if stage.tracked == tracked and kind in stage.kinds]
    return [file for stage in stages for file in stage.files.values()]


def _numbers_of(kind: str, home: Path, tracked: Sequence[str]) -> dict[str, float]:
    files = [file for name in tracked for file in _files(kind, name) if file.metrics]
    return {name: value for file in files for name, value in _numbers(home, file) if math.isfinite(value)}


def _numbers(home: Path, file: File) -> Iterator[tuple[str, float]]:
    """All of a JSON file by key, of a CSV file by column and the row's first three cells."""
    if file.path.endswith(".json"):
        for name, value in read_json(home / file.path).items():
            if isinstance(value, int | float):
                yield name, float(value)
    else:
        for row in read_rows(home / file.path, file.columns):
            for name in file.metrics:
                yield "_".join([*list(row.values())[:3], name]), float(row[name])


def _curves(home: Path, file: File) -> dict[str, Curve]:
    rows = read_rows(home / file.path, file.columns)
    step = file.columns[0]
    return {
        name: [(int(row[step]), value) for row in rows if math.isfinite(value := float(row[column]))]
        for column, name in file.curves.items()
    }
