"""What one run with one seed left behind, and all runs side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from pascal.report.rows import frame, levels_text, shares


@dataclass(frozen=True, eq=False)
class RunResults:
    """One run with one seed, and the files that it left, by the names of the manifest.

    `dataset`, `network` and, where the paper has the row, the levels are written as in the audit: cifar10, vgg16.
    """

    run: str
    seed: int
    dataset: str
    network: str
    kind: str = "uniform"  # or calibrated, derived, given: see `registry.KINDS`
    width: float = 1.0
    start: str = ""  # the uniform run that this one starts from
    clusters: int | None = None  # χ; None: uniform, or a list made by hand
    values: tuple[int, ...] = ()
    levels_change_epoch: float | None = None  # the last epoch with uniform levels
    missing: tuple[str, ...] = ()  # files that the run should have left
    problem: str = ""  # why the run stopped, if it did
    files: Mapping[str, Any] = field(default_factory=dict)  # rows of a CSV file, content of a JSON file

    def get(self, file: str) -> Any:
        """The content of a file, None if it is not there."""
        return self.files.get(file)

    def only(self, files: Iterable[str]) -> "RunResults":
        """The same with some of its files."""
        return replace(self, files={name: self.files[name] for name in files if name in self.files})


Results = Sequence[RunResults]


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
    found = [(result, result.get(file)) for result in results]
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
    accuracy, verify = result.get("accuracy") or {}, result.get("verify") or {}
    return {
        **{name: getattr(result, name) for name in _RUN},
        "values": " ".join(map(str, result.values)),
        "levels": levels_text(_levels(result)) if _levels(result) else "",
        **{name: accuracy.get(name) for name in _ACCURACY},
        "verified_images": verify.get("images"),
        **{name: verify.get(name) for name in _VERIFY},
        "missing": ", ".join(result.missing),
        **(result.get("energy_summary") or {}),
    }


def _levels(result: RunResults) -> list[int]:
    """Those that the network was measured with, in forward order; before that, those of the assignment."""
    if result.get("workload") is None:
        return list((result.get("levels") or {}).values())
    table = frame(result.get("workload"), ["activation", "levels"], "workload.csv")
    owned = table[table.activation != ""].drop_duplicates("activation")
    return [int(float(level)) for level in owned["levels"]]
