"""What the runs left behind, read from their files for tables and figures."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pascal.energy import Measured, measured_hardware
from pascal.report import RunResults
from pascal.training import retraining_epochs

from .stage import read_json, reading

_ROWS = (
    "accuracy_vs_timesteps",
    "train",
    "histogram",
    "metric",
    "metric_by_k",
    "workload",
    "activity",
    "counts",
    "energy",
    "energy_sensitivity",
    "ratios",
    "hardware",
    "hardware_comparison",
    "hardware_sensitivity",
)
_NUMBERS = {"accuracy": "accuracy", "verify": "verify", "levels": "levels", "energy_summary": "energy"}
FILES = [f"{name}.csv" for name in _ROWS] + [f"{file}.json" for file in _NUMBERS.values()]


def read_results(report: Mapping[str, Any], results: Path) -> list[RunResults]:
    """Every run and seed of `build/report.json`, in its order; a file that is not there is None."""
    return [_read(run, seed, results) for run in report["runs"] for seed in report["seeds"]]


def _read(run: Mapping[str, Any], seed: int, results: Path) -> RunResults:
    home, settings = results / run["run"] / str(seed), run["settings"]
    adapt = settings.get("adapt", {}) if run["kind"] == "derived" else {}
    complete = all((home / file).exists() for file in FILES)
    return RunResults(
        run=run["run"],
        seed=seed,
        dataset=run["source"],
        network=settings["network"],
        width=settings["width"],
        start=run["start"] or "",
        clusters=adapt.get("clusters"),
        values=tuple(adapt.get("values", ())),
        levels_change_epoch=levels_change(settings) if run["start"] else None,
        problem="" if complete else _problem(run["run"], seed),
        **{name: read_json(path) for name, file in _NUMBERS.items() if (path := home / f"{file}.json").exists()},
        **dict(_tables(home)),
    )


def levels_change(settings: Mapping[str, Any]) -> int:
    """The last epoch with uniform levels."""
    return retraining_epochs(settings["train"]["epochs"], settings["adapt"]["p"])


def measured_here(results: Iterable[RunResults]) -> Iterator[Measured]:
    """Accuracies of full-width networks, and what the simulated machines need for them, for the audit."""
    for result in results:
        if result.width != 1.0:
            continue
        about = (result.network, result.dataset, tuple((result.levels or {}).values()))
        for network in ("ANN", "SNN") if result.accuracy else ():
            yield Measured(f"{network} accuracy %", *about, 100 * result.accuracy[f"{network.lower()}_accuracy"])
        if result.hardware is not None:
            yield from measured_hardware(*about, result.hardware.to_dict("records"))


def _tables(home: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    for name in _ROWS:
        if (path := home / f"{name}.csv").exists():
            with reading(path):
                yield name, pd.read_csv(path)


def _problem(run: str, seed: int) -> str:
    """What a stage said last before it stopped, from its log."""
    for log in sorted(Path("logs").glob(f"*/{run}-{seed}.log")):
        for line in log.read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{log.parent.name}: "):
                return line
    return ""
