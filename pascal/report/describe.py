"""What surrounds the numbers of a table: the run, its seeds, what is missing, and what the paper reports."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from pascal.report.rows import Rows, frame

_COLUMNS = ["run", "seed", "dataset", "network", "width", "levels", "missing", "problem"]
Reported = dict[tuple[str, ...], str]


def describe(runs: Rows, files: Sequence[str]) -> pd.DataFrame:
    """One row per run: run, dataset, network, width, levels, seeds, missing.

    `seeds` counts those that have the first of `files`; `missing` says which seeds lack which of `files`. Columns of
    `runs`: those of `overview`.
    """
    table = frame(runs, _COLUMNS, "runs")
    rows = [_description(str(run), group, files) for run, group in table.groupby("run", sort=False)]
    return pd.DataFrame(rows, columns=["run", "dataset", "network", "width", "levels", "seeds", "missing"])


def join(left: pd.DataFrame, parts: Iterable[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """The parts under the runs they belong to; a run without any keeps its row, which says what is missing."""
    filled = [part for part in parts if len(part)]
    right = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=["run", *columns])
    order = [name for column in columns for name in (column, f"{column}_std") if name in right]
    return left.merge(right[["run", *order]], on="run", how="left")


def missing_last(table: pd.DataFrame) -> pd.DataFrame:
    """The numbers first, then what is missing of them."""
    return table[[*table.columns.drop("missing"), "missing"]]


def reported_numbers(audit: Rows) -> Reported:
    """The paper's numbers, as printed, by quantity, network, dataset and levels.

    Columns of `audit`: quantity, network, dataset, levels, reported, as `audit.audit_rows` gives them.
    """
    columns = ["quantity", "network", "dataset", "levels", "reported"]
    table = frame(audit, columns, "audit", numbers=False)[columns].astype(str)
    return {tuple(row[:4]): row[4] for row in table.itertuples(index=False, name=None)}


def beside(table: pd.DataFrame, reported: Reported, quantity: str | Iterable[str]) -> list[str]:
    """What the paper reports for each row's network, dataset and levels; empty where it reports nothing.

    `quantity` is one name for all rows, or a name for each.
    """
    keys = table[["network", "dataset", "levels"]].astype(str).itertuples(index=False, name=None)
    quantities = [quantity] * len(table) if isinstance(quantity, str) else list(quantity)
    return [reported.get((name, *key), "") for name, key in zip(quantities, keys, strict=True)]


def beside_hardware(table: pd.DataFrame, reported: Reported, ratios: Iterable[float]) -> list[str]:
    """The ratios of the paper's hardware figures as text, only beside the network that it simulated."""
    simulated = beside(table, reported, "PASC energy mJ")
    return [f"{ratio:g}" if known and pd.notna(ratio) else "" for known, ratio in zip(simulated, ratios, strict=True)]


def _description(run: str, group: pd.DataFrame, files: Sequence[str]) -> dict[str, Any]:
    first = group.iloc[0]
    levels = [text for text in group.levels.unique() if text]
    return {
        "run": run,
        **{name: first[name] for name in ("dataset", "network", "width")},
        "levels": levels[0] if len(levels) == 1 else "differ by seed" if levels else "",
        "seeds": sum(files[0] not in lacking.split(", ") for lacking in group.missing),
        "missing": _missing(group, files),
    }


def _missing(group: pd.DataFrame, files: Sequence[str]) -> str:
    """`seed 1: accuracy, verify`; seeds that miss the same are named together."""
    seeds: dict[str, list[str]] = {}
    for row in group.itertuples():
        lacking = ", ".join(name for name in row.missing.split(", ") if name in files)
        if lacking or row.problem:
            seeds.setdefault(" – ".join(filter(None, (lacking, row.problem))), []).append(str(row.seed))
    return "; ".join(f"{_name(which, len(group))}: {what}" for what, which in seeds.items())


def _name(seeds: Sequence[str], of: int) -> str:
    if len(seeds) == of > 1:
        return "all seeds"
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)}"
