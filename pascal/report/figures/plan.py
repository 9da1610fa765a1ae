"""What a plan decided, layer by layer, and what else the budget could have bought."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pascal.report.registry import figure
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, filled
from pascal.report.style import MARKERS, PAGE_IN, PALETTE, level_colours, name_layers, panels, styled


@figure(
    "What giving a layer the next fewer levels adds to KL(start ‖ changed), measured around an operating point, "
    "with its standard error; the colour is what the layer got. Right: the plan beside other ways to spend the budget, "
    "on images that nothing was chosen on. Means over seeds.",
    files=("plan_layers", "plan_beside"),
    per_run=True,
    kinds=("planned",),
)
def plan(runs: Results) -> Figure:
    """Scores by layer, and the contenders."""
    return plan_figure(gather(runs, "plan_layers"), gather(runs, "plan_beside"))


@styled
def plan_figure(layers: Rows, beside: Rows) -> Figure:
    """Columns of `layers`: layer, levels, loss_of_fewer, error_of_fewer; of `beside`: name, loss, loss_error."""
    scores = filled(layers, ["layer", "levels", "loss_of_fewer", "error_of_fewer"], "plan_layers.csv")
    contenders = filled(beside, ["name", "loss", "loss_error"], "plan_beside.csv")
    made, ((left, right),) = panels(1, 2, PAGE_IN, 3.0, width_ratios=(5, 2))
    _draw_layers(left, scores)
    _draw_contenders(right, contenders)
    return made


def _draw_layers(axes: Axes, table: pd.DataFrame) -> None:
    layers = list(table.layer.unique())
    for number, (level, colour) in enumerate(sorted(level_colours(list(table.levels)).items(), reverse=True)):
        part = table[table.levels == level]
        look = {"color": colour, "marker": MARKERS[number % len(MARKERS)], "label": f"L = {level}"}
        places = [layers.index(layer) for layer in part.layer]
        axes.errorbar(places, part.loss_of_fewer, part.error_of_fewer, linestyle="", elinewidth=0.8, **look)
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set_ylabel("KL added by fewer levels, nats")
    name_layers(axes, layers)
    axes.legend(title="planned", loc="best")


def _draw_contenders(axes: Axes, table: pd.DataFrame) -> None:
    means = table.groupby("name", sort=False)[["loss", "loss_error"]].mean()
    axes.barh(list(means.index), means.loss, xerr=means.loss_error, color=PALETTE[0], height=0.6)
    axes.invert_yaxis()
    axes.set_xlabel("held-out KL, nats")
    axes.grid(False, axis="y")
