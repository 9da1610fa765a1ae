"""What the runs left behind, read from their files for tables and figures."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from pascal.audit import Measured, measured_hardware
from pascal.pipeline.manifest import File, reported_files
from pascal.pipeline.stage import reading
from pascal.report.results import RunResults, overview
from pascal.training import retraining_epochs

if TYPE_CHECKING:
    from pascal.pipeline.parameters.files import Report, ReportedRun
    from pascal.pipeline.parameters.runs import Settings

_JUDGED = ("ann_accuracy", "snn_accuracy", "t_eff")


def read_results(report: "Report", results: Path) -> list[RunResults]:
    """Every run and seed of `build/report.json`, in its order, with the files that are there."""
    return [_read(run, seed, results) for run in report.runs for seed in report.seeds]


def _read(run: "ReportedRun", seed: int, results: Path) -> RunResults:
    home, settings = results / run.run / str(seed), run.settings
    adapt = settings.adapt if run.kind == "derived" else None
    expected = reported_files(run.kind)
    found = {name: _content(path, file) for name, file in expected.items() if (path := home / file.path).exists()}
    missing = tuple(name for name in expected if name not in found)
    return RunResults(
        run=run.run,
        seed=seed,
        dataset=run.source,
        network=settings.network,
        kind=run.kind,
        width=settings.width,
        start=run.start or "",
        clusters=adapt.clusters if adapt else None,
        values=adapt.values if adapt else (),
        levels_change_epoch=levels_change(settings),
        missing=missing,
        problem=_problem(run.run, seed) if missing else "",
        files=found,
    )


def levels_change(settings: "Settings") -> int | None:
    """The last epoch with uniform levels, of an adaptive run."""
    if settings.adapt is None:
        return None
    epochs, whole = settings.train.epochs, settings.adapt.finetune == "algorithm4"
    return retraining_epochs(epochs, settings.adapt.p) if whole else epochs


def measured_here(results: Iterable[RunResults]) -> Iterator[Measured]:
    """Accuracies of full-width networks, and what the simulated machines need for them, for the audit."""
    for result in results:
        if result.width != 1.0:
            continue
        about = (result.network, result.dataset, tuple((result.get("levels") or {}).values()))
        accuracy = result.get("accuracy") or {}
        for network in ("ANN", "SNN") if accuracy else ():
            yield Measured(f"{network} accuracy %", *about, 100 * accuracy[f"{network.lower()}_accuracy"])
        if (hardware := result.get("hardware")) is not None:
            yield from measured_hardware(*about, hardware.to_dict("records"))


def metrics(results: Iterable[RunResults]) -> dict[str, dict[str, float]]:
    """What a version of a run is judged by: means over its seeds, and all counts that differ."""
    table = overview(results)
    prices = [str(name) for name in table if str(name).startswith("snn_uj_")]
    shown = [*_JUDGED, *prices[:1]]  # a line of `dvc metrics show` fits a screen
    groups = table.astype(dict.fromkeys([*shown, "count_mismatches"], float)).groupby("run", sort=False)
    judged = groups[shown].mean().join(groups["count_mismatches"].sum(min_count=1))
    return {str(run): row.dropna().to_dict() for run, row in judged.iterrows()}


def _content(path: Path, file: File) -> Any:
    """A file with the columns or keys that the manifest promises."""
    with reading(path):
        content = json.loads(path.read_text(encoding="utf-8")) if path.suffix == ".json" else pd.read_csv(path)
        known = content.columns if path.suffix == ".csv" else content
        if missing := [name for name in (*file.columns, *file.keys) if name not in known]:
            raise ValueError(f"it lacks {', '.join(missing)}")
        return content


def _problem(run: str, seed: int) -> str:
    """What a stage said last before it stopped, from its log."""
    for log in sorted(Path("logs").glob(f"*/{run}-{seed}.log")):
        for line in log.read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{log.parent.name}: "):
                return line
    return ""
