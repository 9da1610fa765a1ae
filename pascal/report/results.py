"""What one run with one seed left behind, and all runs side by side."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pascal.report.rows import Rows, frame, levels_text, shares

_EXPECTED = ("accuracy", "accuracy_vs_timesteps", "verify", "train", "workload", "energy", "energy_summary", "hardware")
_EXPECTED_ADAPTIVE = ("histogram", "metric", "levels")


@dataclass(frozen=True, eq=False)
class RunResults:
    """One run with one seed. The second half is named like the files; None is a file that is not there.

    `dataset`, `network` and, where the paper has the row, the levels are written as in the audit: cifar10, vgg16.
    """

    run: str
    seed: int
    dataset: str
    network: str
    width: float = 1.0
    start: str = ""  # the uniform run that this one starts from
    clusters: int | None = None  # χ; None: uniform, or a list made by hand
    values: tuple[int, ...] = ()
    levels_change_epoch: float | None = None  # the last epoch with uniform levels
    problem: str = ""  # why the run stopped, if it did

    accuracy: Mapping[str, Any] | None = None  # ann_accuracy, snn_accuracy (shares), images
    accuracy_vs_timesteps: Rows | None = None  # of plain IF: timesteps, accuracy
    verify: Mapping[str, Any] | None = None  # Verification.to_json
    train: Rows | None = None  # training.EpochRecord
    histogram: Rows | None = None  # layer, level, count
    metric: Rows | None = None  # layer, agreement, skewness, kurtosis, metric
    metric_by_k: Rows | None = None  # moments, k, layer, metric
    levels: Mapping[str, int] | None = None
    workload: Rows | None = None  # workload_row
    activity: Rows | None = None  # energy.timestep_activity: activation, timestep, firing
    counts: Rows | None = None  # neuron, ann_count, snn_count, neurons
    energy: Rows | None = None  # energy.energy_rows
    energy_summary: Mapping[str, Any] | None = None  # energy.energy_summary
    energy_sensitivity: Rows | None = None  # energy.sensitivity
    ratios: Rows | None = None  # energy.ratio_table
    hardware: Rows | None = None  # hardware.Simulation.summary, one row per machine and neuron
    hardware_comparison: Rows | None = None  # hardware.compare_machines
    hardware_sensitivity: Rows | None = None  # hardware.sensitivity

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the files that the run should have left."""
        expected = _EXPECTED + (_EXPECTED_ADAPTIVE if self.clusters else ())
        return tuple(name for name in expected if getattr(self, name) is None)


def overview(results: Iterable[RunResults]) -> pd.DataFrame:
    """One row per run and seed with every single number of it: what most tables read.

    Columns: run, seed, dataset, network, width, start, clusters, values, levels (text), ann_accuracy, snn_accuracy
    (shares), images, verified_images, neurons, count_mismatches, prediction_mismatches, dtype, missing, problem, and
    the keys of the energy summary; t_eff and t_norm always.
    """
    table = pd.DataFrame([_row(result) for result in results], columns=None)
    for name in _ALWAYS:
        if name not in table:
            table[name] = None
    return shares(table, ["ann_accuracy", "snn_accuracy"], "accuracy.json")


def gather(results: Iterable[RunResults], file: str) -> pd.DataFrame:
    """The rows of one file of every run that has it, under the run's name and seed."""
    found = [(result, getattr(result, file)) for result in results]
    tables = [
        frame(rows, [], file).assign(run=result.run, seed=result.seed) for result, rows in found if rows is not None
    ]
    tables = [table for table in tables if len(table)]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


_RUN = ("run", "seed", "dataset", "network", "width", "start", "clusters", "problem")
_ACCURACY = ("ann_accuracy", "snn_accuracy", "images")
_VERIFY = ("neurons", "count_mismatches", "prediction_mismatches", "dtype")
_ALWAYS = (*_RUN, "values", "levels", *_ACCURACY, "verified_images", *_VERIFY, "missing", "t_eff", "t_norm")


def _row(result: RunResults) -> dict[str, Any]:
    accuracy, verify = result.accuracy or {}, result.verify or {}
    return {
        **{name: getattr(result, name) for name in _RUN},
        "values": " ".join(map(str, result.values)),
        "levels": levels_text(_levels(result)) if _levels(result) else "",
        **{name: accuracy.get(name) for name in _ACCURACY},
        "verified_images": verify.get("images"),
        **{name: verify.get(name) for name in _VERIFY},
        "missing": ", ".join(result.missing),
        **(result.energy_summary or {}),
    }


def _levels(result: RunResults) -> list[int]:
    """Those that the network was measured with, in forward order; before that, those of the assignment."""
    if result.workload is None:
        return list((result.levels or {}).values())
    table = frame(result.workload, ["activation", "levels"], "workload.csv")
    owned = table[table.activation != ""].drop_duplicates("activation")
    return [int(float(level)) for level in owned["levels"]]
