"""Cost against what it buys: plans for several budgets, uniform levels and the metric's beside them."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pascal.report.rows import Rows, filled
from pascal.report.style import COLUMN_IN, PAGE_IN, looks, panels, styled

_SHOWN = {"agreement": "agreement with the start, %", "accuracy": "accuracy, %"}


@styled
def front_figure(rows: Rows) -> Figure:
    """Agreement over cost and, where it was measured, accuracy: the rows of `pascal.level_front`.

    Columns: name, cost, agreement (a share), accuracy (a share, or nothing), unit.
    """
    table = filled(rows, ["name", "cost", "agreement"], "front")
    shown = [name for name in _SHOWN if name in table and table[name].notna().any()]
    figure, (axes,) = panels(1, len(shown), PAGE_IN if len(shown) > 1 else COLUMN_IN, 2.7)
    for one, name in zip(axes, shown, strict=True):
        _draw(one, table, name)
    unit = str(table["unit"].iloc[0]) if "unit" in table else ""
    for one in axes:
        one.set_xlabel(f"cost per image{f', {unit}' if unit else ''}")
    axes[0].legend(loc="lower right")
    return figure


def _draw(axes: Axes, table: pd.DataFrame, name: str) -> None:
    """Plans as a line, all else as marks."""
    for group, look in looks(list(table["name"].unique())).items():
        part = table[table["name"] == group].sort_values("cost")
        line = look["linestyle"] if group == "plan" else ""
        axes.plot(part.cost, 100 * part[name], label=group, **{**look, "linestyle": line})
    axes.set_ylabel(_SHOWN[name])
