"""The table of what a change of levels did, before and after the training that follows it."""

import pandas as pd

from pascal.report.describe import describe, missing_last
from pascal.report.registry import table
from pascal.report.results import Results, overview
from pascal.report.rows import Rows, frame, over_seeds

_WHO = ["run", "method", "finetune"]
_ACCURACIES = ["before_accuracy_percent", "after_accuracy_percent"]


@table(
    "Adaptive runs by how their levels were chosen: accuracy on validation images before and after the training that "
    "follows the change of levels, and which of the two networks was kept; the last accuracy is on test images.",
    files=("finetune",),
)
def tuning(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per adaptive run."""
    rows = [{"run": one.run, "seed": one.seed, **one.get("finetune")} for one in results if one.get("finetune")]
    return tuning_table(overview(results), rows)


def tuning_table(runs: Rows, tuned: Rows) -> pd.DataFrame:
    """Method, fine-tuning, accuracies before and after, how many seeds kept which, and the SNN's on test images.

    Columns of `runs`: those of `overview`; of `tuned`: run, seed and the keys of `finetune.json`.
    """
    numbers = frame(tuned, [*_WHO, "before_accuracy", "after_accuracy", "kept"], "finetune.json")
    for name in _ACCURACIES:
        numbers[name] = 100 * pd.to_numeric(numbers[name.removesuffix("_percent")])
    means = over_seeds(numbers, _WHO, _ACCURACIES)
    means["kept"] = means.run.map(numbers.groupby("run")["kept"].agg(_counted) if len(numbers) else {})
    overall = frame(runs, ["run", "start", "snn_accuracy"], "runs")
    overall["snn_accuracy_percent"] = 100 * pd.to_numeric(overall.snn_accuracy)
    left = describe(runs, ["finetune", "accuracy"]).drop(columns=["dataset", "network", "width"])
    left["start"] = left.run.map(overall.groupby("run")["start"].first())
    joined = left[left.start != ""].merge(means, on="run", how="left")
    tested = over_seeds(overall, ["run"], ["snn_accuracy_percent"])
    return missing_last(joined.merge(tested, on="run", how="left"))


def _counted(kept: pd.Series) -> str:
    """`after`, or of several seeds `2 after, 1 before`."""
    counts = kept.value_counts()
    return str(counts.index[0]) if len(counts) == 1 else ", ".join(f"{n} {name}" for name, n in counts.items())
