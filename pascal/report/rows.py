"""Rows as they come from result files: checked by column, summarised over seeds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pandas as pd

from pascal.errors import PascalError

Rows: TypeAlias = pd.DataFrame | Iterable[Mapping[str, Any]]

# Columns of text: their cells may look like numbers and stay as they are, and are empty where there is nothing.
TEXT = {"run", "dataset", "network", "start", "values", "levels", "missing", "problem"} | {
    "layer", "path", "activation", "panel", "kernel",
}  # fmt: skip


def frame(rows: Rows, columns: Sequence[str], what: str, numbers: bool = True) -> pd.DataFrame:
    """`rows` as a new table that has at least `columns`; `what` names the rows in the error.

    Numbers may come as text, as csv.DictReader gives them; empty cells are missing numbers.
    """
    table = pd.DataFrame(rows if isinstance(rows, pd.DataFrame) else list(rows)).reset_index(drop=True)
    if not len(table.columns):
        return pd.DataFrame(columns=list(columns))
    if absent := [name for name in columns if name not in table]:
        found = ", ".join(map(str, table.columns))
        raise PascalError(f"{what}: column {absent[0]!r} is missing, found {found}; rerun the stage that writes it")
    return table.apply(_parsed) if numbers else table


def filled(rows: Rows, columns: Sequence[str], what: str) -> pd.DataFrame:
    """Like `frame`, for figures: nothing cannot be drawn."""
    table = frame(rows, columns, what)
    if table.empty:
        raise PascalError(f"{what}: no rows, so there is nothing to draw; rerun the stage that writes it")
    return table


def shares(table: pd.DataFrame, columns: Sequence[str], what: str) -> pd.DataFrame:
    """Refuse accuracies outside 0..1: a percentage in a result file would be shown a hundredfold."""
    for name in columns:
        values = pd.to_numeric(table[name]).dropna()
        if not values.between(0, 1).all():
            raise PascalError(f"{what}: {name} is {values[~values.between(0, 1)].iloc[0]}, expected a share in 0..1")
    return table


def over_seeds(table: pd.DataFrame, by: Sequence[str], quantities: Sequence[str]) -> pd.DataFrame:
    """Mean of each quantity and, as `…_std`, its sample deviation, which one seed has not; in order of appearance."""
    numbers = table.assign(**{name: pd.to_numeric(table[name]) for name in quantities})
    groups = numbers.groupby(list(by), sort=False, dropna=False)[list(quantities)]
    both = pd.concat([groups.mean(), groups.std().add_suffix("_std")], axis=1)
    order = [name for quantity in quantities for name in (quantity, f"{quantity}_std")]
    return both[order].reset_index()


def levels_text(levels: Iterable[int]) -> str:
    """`4` for a uniform network, otherwise every layer's level: `4 4 2 1`."""
    levels = [int(level) for level in levels]
    return str(levels[0]) if len(set(levels)) == 1 else " ".join(map(str, levels))


def _parsed(column: pd.Series) -> pd.Series:
    if column.name in TEXT and (column.isna().all() or not pd.api.types.is_numeric_dtype(column)):
        return column.astype(object).where(column.notna(), "").astype(str)
    if pd.api.types.is_numeric_dtype(column):
        return column
    cells = column.astype(object).where(column != "", None)
    numbers = pd.to_numeric(cells, errors="coerce")
    return numbers if numbers.count() == cells.count() else cells
