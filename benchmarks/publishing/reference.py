"""Finished results of the pipeline as small reference files.

`python -m benchmarks.publishing.reference RESULTS results/reference/cifar10` reads the results folder of a preset and
writes one JSON for each run and seed that has been evaluated, `curves.csv` (epochs) and `metric.csv` (readings of the
metric). Then `python -m benchmarks.publishing.reference_tables` brings the tables of docs/results.md up to date.
"""

import argparse
import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.publishing.provenance import write_record
from pascal.adapt import metric_readings
from pascal.files import write_rows
from pascal.pipeline.commit import git_commit
from pascal.pipeline.histograms import read_histograms
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.runs import Run
from pascal.pipeline.rows import levels_change
from pascal.pipeline.stage import read_rows

ROOT = Path(__file__).parents[2]
PRESET = "workflow/presets/cifar10-small.yaml"
COMMAND = "snakemake --cores 2 all --configfile {preset}"
_CERTIFICATE = ("images", "neurons", "count_mismatches", "prediction_mismatches", "max_logit_error", "dtype")
_TIMESTEPS = ("t_eff", "t_eff_measured", "t_total", "sequential_latency_timesteps")

Rows = list[dict[str, Any]]


def main() -> None:
    """Collect, write, say what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--preset", default=PRESET, help="the parameters that the results were made with")
    arguments = parser.parse_args()
    curves, metrics = Rows(), Rows()
    for run, seed in planned(arguments.preset):
        home = arguments.results / run.name / str(seed)
        if not (home / "accuracy.json").exists():
            print(f"{run.name}, seed {seed}: not evaluated yet")
            continue
        write_record(arguments.out / f"{run.name}-{seed}.json", record(run, seed, arguments.results, arguments.preset))
        key = {"run": run.name, "seed": seed}
        curves += [key | row for row in read_rows(home / "train.csv")]
        if run.kind == "derived" and run.settings.adapt.method == "metric":
            metrics += [key | row for row in metric_readings(read_histograms(home / "histogram.csv"))]
    for name, rows in (("curves", curves), ("metric", metrics)):
        if rows:
            write_rows(arguments.out / f"{name}.csv", rows[0], rows)


def planned(preset: str) -> Iterator[tuple[Run, int]]:
    """Every run of a preset with each of its seeds."""
    params = load_params(ROOT / preset)
    for run in params.runs.values():
        for seed in params.seeds:
            yield run, seed


def record(run: Run, seed: int, results: Path, preset: str) -> dict[str, Any]:
    """What became of one run, and how to make it again."""
    home, settings = results / run.name / str(seed), run.settings
    accuracy, energy = _json(home / "accuracy.json"), _json(home / "energy.json")
    certificate = _json(home / "verify.json")
    return {
        "kind": "run", "run": run.name, "seed": seed, "start": run.start,
        "dataset": settings.dataset, "network": settings.network, "width": settings.width,
        "adapt": settings.adapt and settings.adapt.model_dump(mode="json"), "train": settings.train.model_dump(),
        "levels": _json(home / "levels.json"), "epochs": settings.train.epochs,
        "training_images": _json(results / "data" / f"{settings.dataset}.json")["splits"]["train"]["images"],
        "ann_accuracy": accuracy["ann_accuracy"], "snn_accuracy": accuracy["snn_accuracy"],
        "test_images": accuracy["images"],
        "certificate": {name: certificate[name] for name in _CERTIFICATE} if certificate else None,
        "timesteps": {name: energy[name] for name in _TIMESTEPS} if energy else None,
        "plain_if": _plain_if(home / "accuracy_vs_timesteps.csv"),
        "seconds": seconds(run, seed, results),
        "commit": made_at(run, seed, results), "command": COMMAND.format(preset=preset),
    }  # fmt: skip


def made_at(run: Run, seed: int, results: Path) -> str:
    """The commit that the network was trained at, from the stage's log; without one, that of the folder now."""
    log = results.parent / "logs" / _training_stage(run) / f"{run.name}-{seed}.log"
    first = log.read_text().partition("\n")[0] if log.exists() else ""
    return first.removeprefix("commit ") if first.startswith("commit ") else git_commit(results)


def _training_stage(run: Run) -> str:
    return "finetune" if run.start else "train"


def seconds(run: Run, seed: int, results: Path) -> dict[str, float]:
    """By stage; a training's epochs are summed, because the stage's own clock starts again after an interruption."""
    files = (results.parent / "logs" / "times").glob(f"*/{run.name}-{seed}.tsv")
    found = {file.parent.name: float(_first(file)["s"]) for file in sorted(files)}
    stage, before = _training_stage(run), levels_change(run.settings) or 0
    if stage in found:
        epochs = read_rows(results / run.name / str(seed) / "train.csv")
        found[stage] = sum(float(epoch["seconds"]) for epoch in epochs if int(epoch["epoch"]) > before)
    return found


def _first(file: Path) -> Mapping[str, str]:
    with file.open(newline="") as rows:
        return next(csv.DictReader(rows, delimiter="\t"))


def _json(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def _plain_if(path: Path) -> dict[str, Any] | None:
    """Accuracy by timesteps, of how many images, and the ANN's on the same ones."""
    rows = read_rows(path) if path.exists() else []
    accuracy = {row["timesteps"]: float(row["accuracy"]) for row in rows}
    if not rows:
        return None
    return {"images": int(rows[0]["images"]), "ann_accuracy": float(rows[0]["ann_accuracy"]), "accuracy": accuracy}


if __name__ == "__main__":
    main()
