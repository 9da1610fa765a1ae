"""Rival methods: the paper's three comparison tables beside what was measured here, and all methods of each run."""

from typing import Any, NamedTuple

import pandas as pd

from pascal.report.registry import table
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, frame, over_seeds

_COSTS = ("total_timesteps", "sequential_timesteps", "synaptic_operations", "neuron_operations", "buffer_bits")
_KEYS = ["run", "label", "answer", "levels"]


class Printed(NamedTuple):
    """A row of the paper: another work's figures, as the paper prints them."""

    work: str
    method: str  # of `pascal.baselines.METHODS`
    dataset: str
    network: str
    timesteps: str
    accuracy: str
    remark: str = ""


QCFS_AND_SEENN = (
    Printed("QCFS", "plain", "cifar10", "vgg16", "16", "93.95", "QCFS's own table has 95.40; 93.96 is T = 4"),
    Printed("QCFS", "plain", "cifar100", "vgg16", "16", "72.80", "QCFS's own table has 76.24"),
    Printed("QCFS", "plain", "cifar10", "resnet18", "8", "94.82"),
    Printed("QCFS", "plain", "imagenet", "resnet34", "64", "72.35"),
    Printed("QCFS", "plain", "imagenet", "resnet34", "256", "74.22", "that of VGG-16"),
    Printed("QCFS", "plain", "imagenet", "vgg16", "1024", "74.32"),
    Printed("SEENN-1", "seenn", "cifar10", "resnet18", "2.01", "95.08"),
    Printed("SEENN-1", "seenn", "cifar100", "resnet18", "6.19", "65.48", "probably of a thin ResNet-20"),
    Printed("SEENN-1", "seenn", "imagenet", "resnet34", "29.53", "71.84"),
)
OTHER_WORKS = (
    Printed(
        "Hao et al. 2023 (COS)", "cos", "cifar100", "vgg16", "16", "76.77", "without the timesteps simulated first"
    ),
    Printed("Hao et al. 2023 (COS)", "cos", "imagenet", "resnet34", "32", "73.93"),
    Printed("Li et al. 2023 (Dynamic Confidence)", "confidence", "cifar10", "resnet18", "11.51", "94.27", "2-bit LSQ"),
    Printed("Li et al. 2023 (Dynamic Confidence)", "confidence", "imagenet", "vgg16", "49.54", "73.30"),
    Printed("Wu et al. 2024 (FTBC)", "ftbc", "imagenet", "resnet34", "16", "71.66"),
)
DIRECT_TRAINING = (
    Printed("TET", "tet", "cifar10", "resnet19", "4", "94.44", "ResNet-19"),
    Printed("TET", "tet", "cifar100", "resnet19", "4", "74.47", "ResNet-19"),
    Printed("TET", "tet", "imagenet", "spiking resnet34", "6", "64.79"),
)


@table(
    "The paper's comparison with QCFS and SEENN-1: its figures, and what these methods and PASC reach on networks "
    "trained here, on the same images. Timesteps are those with what is simulated before and after.",
    files=("compare",),
)
def rivals_qcfs_seenn(results: Results, audit: Rows) -> pd.DataFrame:
    """Reported and measured, one row for each measured answer."""
    return beside_paper(QCFS_AND_SEENN, compared(results))


@table("The paper's comparison with other works (COS, Dynamic Confidence, FTBC), likewise.", files=("compare",))
def rivals_other_works(results: Results, audit: Rows) -> pd.DataFrame:
    """Reported and measured, one row for each measured answer."""
    return beside_paper(OTHER_WORKS, compared(results))


@table("The paper's comparison with direct training (TET), likewise.", files=("compare",))
def rivals_direct_training(results: Results, audit: Rows) -> pd.DataFrame:
    """Reported and measured, one row for each measured answer."""
    return beside_paper(DIRECT_TRAINING, compared(results))


@table(
    "Every method of every run, at its chosen answers: accuracy, agreement with the ANN, mismatching neurons, "
    "timesteps with what is simulated before and after, on the critical path, and operations per image.",
    files=("compare",),
)
def rivals(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run, method and answer; a method without numbers says why."""
    return methods_table(compared(results))


def compared(results: Results) -> pd.DataFrame:
    """All rows of compare.csv with run, dataset, network and width."""
    about = {each.run: (each.dataset, each.network, each.width) for each in results}
    columns = ["method", *_KEYS[1:], "chosen", "accuracy", "agreement", "mismatches", "pooling", "problem", *_COSTS]
    table = frame(gather(results, "compare"), ["run", "seed", *columns], "compare.csv")
    for place, name in enumerate(("dataset", "network", "width")):
        table[name] = [about[run][place] for run in table.run] if len(table) else []
    return table


def methods_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds of the chosen answers, and the methods that have none."""
    chosen = rows[rows.chosen.astype(str) == "True"] if len(rows) else rows
    percent = {f"{name}_percent": 100 * pd.to_numeric(chosen[name]) for name in ("accuracy", "agreement", "mismatches")}
    numbers = over_seeds(chosen.assign(**percent), [*_KEYS, "pooling"], [*percent, *_COSTS])
    failed = rows[rows.problem.fillna("").astype(str) != ""] if len(rows) else rows
    return pd.concat([numbers, failed[["run", "label", "problem"]].drop_duplicates()], ignore_index=True)


def beside_paper(printed: tuple[Printed, ...], rows: pd.DataFrame) -> pd.DataFrame:
    """For each row of the paper the chosen answers of that method on that data set here, PASC's beside them."""
    chosen = rows[(rows.chosen.astype(str) == "True") & (rows.seed == rows.seed.min())] if len(rows) else rows
    found = [line for row in printed for line in _lines(row, chosen)]
    return pd.DataFrame(found, columns=[*_PAPER, *_HERE])


_PAPER = ("work", "dataset", "reported_network", "reported_timesteps", "reported_accuracy_percent", "remark")
_HERE = ("run", "network", "pooling", "method", "answer", "measured_timesteps", "measured_accuracy_percent",
         "pasc_timesteps", "pasc_accuracy_percent")  # fmt: skip


def _lines(row: Printed, chosen: pd.DataFrame) -> list[tuple[Any, ...]]:
    paper = (row.work, row.dataset, row.network, row.timesteps, row.accuracy, row.remark)
    same = chosen[(chosen.method == row.method) & (chosen.dataset == row.dataset)] if len(chosen) else chosen
    network = row.network.split()[-1]
    same = same[same.network == network] if len(same) and (same.network == network).any() else same
    lines = [(*paper, *_measured(each, chosen)) for each in same.to_dict("records")]
    return lines or [(*paper, *[""] * len(_HERE))]


def _measured(row: dict[str, Any], chosen: pd.DataFrame) -> tuple[Any, ...]:
    own = chosen[(chosen.run == row["run"]) & (chosen.method == "pasc")].to_dict("records")
    pasc = (own[0]["total_timesteps"], 100 * own[0]["accuracy"]) if own else ("", "")
    name = f"{row['network']}, width {row['width']:g}, L = {row['levels']}"
    measured = (row["label"], row["answer"], row["total_timesteps"], 100 * row["accuracy"])
    return (row["run"], name, row["pooling"], *measured, *pasc)
