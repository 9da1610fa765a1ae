"""Rival methods on one network: accuracy against timesteps, against the critical path and against operations."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from pascal.report.figures.accuracy import pareto_front
from pascal.report.registry import figure
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, filled, over_seeds, shares
from pascal.report.style import BESIDE, PAGE_IN, legend_inches, looks, panels, styled

AXES = {
    "total_timesteps": "timesteps, with those before and after",
    "sequential_timesteps": "neuron timesteps on the critical path",
    "synaptic_operations": "synaptic operations per image",
}


@figure(
    "Accuracy of rival methods on this run's network against all timesteps that they simulate, one curve per method. "
    "The dotted line is the ANN; no answer is better in both than one on the dashed front.",
    files=("compare",),
    per_run=True,
)
def rivals_timesteps(results: Results) -> Figure:
    """T_tot."""
    return rivals_figure(gather(results, "compare"), "total_timesteps")


@figure(
    "The same against neuron timesteps one after another: a sum over layers where a layer waits for the one before.",
    files=("compare",),
    per_run=True,
)
def rivals_sequential(results: Results) -> Figure:
    """S_seq."""
    return rivals_figure(gather(results, "compare"), "sequential_timesteps")


@figure(
    "The same against synaptic operations: spikes times the synapses that each reaches, signed spikes counting one.",
    files=("compare",),
    per_run=True,
)
def rivals_synapses(results: Results) -> Figure:
    """SynOps."""
    return rivals_figure(gather(results, "compare"), "synaptic_operations")


@styled
def rivals_figure(rows: Rows, cost: str, title: str = "") -> Figure:
    """One curve per method over `cost`, a key of AXES; means over seeds.

    Columns: label, answer, levels, accuracy, ann_accuracy, oracle rows aside, and the cost.
    """
    columns = ["label", "answer", "levels", "accuracy", "ann_accuracy", cost]
    table = shares(filled(rows, columns, "compare.csv"), ["accuracy", "ann_accuracy"], "compare.csv")
    table = table[table.answer.astype(str) != "oracle"].dropna(subset=["accuracy", cost])
    table = table.assign(curve=[_curve(row) for row in table.to_dict("records")])
    points = over_seeds(table, ["curve", "answer"], [cost, "accuracy"])
    styles = looks(list(points.curve.unique()))
    figure, axes = panels(1, 1, PAGE_IN, legend_inches(len(styles) + 2))
    _draw(axes[0, 0], points, cost, styles)
    axes[0, 0].axhline(100 * table.ann_accuracy.iloc[0], color="0.4", lw=0.8, linestyle=":", label="ANN")
    axes[0, 0].set(xlabel=AXES[cost], ylabel="test accuracy (%)", title=title)
    axes[0, 0].legend(**BESIDE)
    return figure


def _curve(row: dict[str, Any]) -> str:
    """The method; what differs from answer to answer of one method aside, what its network is included."""
    label = str(row["label"]).partition(", n·α")[0]
    smoothing = str(row["answer"]).partition(", τ")[2]
    refitted = f", L = {str(row['levels']).partition(',')[0]}" if "refitted" in str(row["levels"]) else ""
    return f"{label}{refitted}" + (f", τ{smoothing}" if smoothing else "")


def _draw(axes: Axes, points: pd.DataFrame, cost: str, styles: dict[str, dict[str, Any]]) -> None:
    for curve, look in styles.items():
        part = points[points.curve == curve].sort_values(cost)
        axes.plot(part[cost], 100 * part.accuracy, **look, label=curve)
    front = points.iloc[pareto_front(list(points[cost]), list(points.accuracy))]
    axes.step(front[cost], 100 * front.accuracy, where="post", color="0.3", lw=1, linestyle="--", label="Pareto front")
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    if points[cost].max() < 10_000:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    low = 100 * points.accuracy.min()
    axes.set_ylim(max(low, 100 * points.accuracy.max() - 40) - 1, 100 * points.accuracy.max() + 1)
