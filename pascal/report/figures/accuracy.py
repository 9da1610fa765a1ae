"""Accuracy against timesteps and against cost, over all runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from pascal.report.registry import figure
from pascal.report.results import Results, gather, overview
from pascal.report.rows import Rows, filled, frame, over_seeds, shares
from pascal.report.style import BESIDE, PAGE_IN, footnote, legend_inches, looks, panels, styled

_THIN: dict[str, Any] = {"elinewidth": 0.8, "capsize": 1.5}


@figure(
    "Accuracy of the plain IF network over its timesteps, mean ± std over seeds. The star is PASC at its effective "
    "timesteps on the same images; it has the ANN's accuracy (dotted) exactly.",
    files=("accuracy_vs_timesteps", "energy_summary"),
)
def timesteps(results: Results) -> Figure:
    """One panel per dataset and network."""
    curves = gather(results, "accuracy_vs_timesteps")
    points = overview(results)[["run", "seed", "t_eff"]]
    if len(curves):
        points = points.merge(curves.groupby(["run", "seed"])["ann_accuracy"].first().reset_index(), how="left")
    return timesteps_figure(
        _with_panel(results, curves), _with_panel(results, points.rename(columns={"ann_accuracy": "snn_accuracy"}))
    )


@figure(
    "Accuracy against effective timesteps. No run is better in both than one on the dashed front.",
    files=("accuracy", "energy_summary"),
)
def pareto_t_eff(results: Results) -> Figure:
    """One panel per dataset."""
    runs = overview(results)
    rows = runs.assign(panel=runs.dataset, cost=runs.t_eff, accuracy=runs.snn_accuracy)
    return pareto_figure(rows, "$T_\\mathrm{eff}$ (timesteps)")


@figure(
    "Accuracy against energy of the SNN per image, arithmetic and on-chip memory. No run is better in both than one on "
    "the dashed front.",
    files=("accuracy", "energy"),
)
def pareto_energy(results: Results) -> Figure:
    """One panel per dataset and arithmetic; a run without energy appears without a cost, and the figure names it."""
    energy = frame(gather(results, "energy"), ["costs", "network", "total_pj"], "energy.csv")
    pasc = energy[energy.network == "SNN PASC"].groupby(["run", "seed", "costs"], sort=False)["total_pj"].sum() / 1e6
    runs = overview(results)[["run", "seed", "dataset", "snn_accuracy"]]
    table = runs.merge(pasc.rename("cost").reset_index(), on=["run", "seed"], how="left")
    rows = table.assign(panel=table.dataset + ", " + table.costs, accuracy=table.snn_accuracy)
    return pareto_figure(rows, "energy per image (µJ)")


@styled
def timesteps_figure(curves: Rows, points: Rows) -> Figure:
    """Plain IF over its timesteps, with PASC's own point as a star of the same colour; one panel per `panel`.

    Columns of `curves`: run, seed, panel, timesteps, accuracy, images. Of `points`: run, seed, panel, t_eff,
    snn_accuracy on the same images.
    Accuracies are shares in 0..1; mean ± std over seeds.
    """
    name = "accuracy_vs_timesteps.csv"
    table = shares(
        filled(curves, ["run", "seed", "panel", "timesteps", "accuracy", "images"], name), ["accuracy"], name
    )
    runs = frame(points, ["run", "seed", "panel", "t_eff", "snn_accuracy"], "accuracy.json")
    stars = shares(runs, ["snn_accuracy"], "accuracy.json").dropna(subset=["t_eff", "snn_accuracy"])
    figure, grouped = _stacked(table)
    for axes, part in grouped:
        _draw_timesteps(axes, part, over_seeds(stars[stars.run.isin(part.run)], ["run"], ["t_eff", "snn_accuracy"]))
        images = sorted({int(number) for number in part.images.dropna()})
        axes.set(xlabel="timesteps T; PASC: $T_\\mathrm{eff}$", ylabel="test accuracy (%)")
        axes.set_title(f"{axes.get_title()}: {' or '.join(f'{number:,}' for number in images)} test images")
        axes.set_ylim(top=min(axes.get_ylim()[1], 101))
    _name_absent(figure, {*table.run, *runs.run} - ({*table.run} & {*stars.run}))
    return figure


@styled
def pareto_figure(rows: Rows, label: str) -> Figure:
    """Accuracy against a cost over all runs, with the runs that no other beats; one panel per `panel`.

    Columns: run, seed, panel, cost, accuracy (a share in 0..1). `label` names the cost with its unit.
    """
    table = shares(filled(rows, ["run", "seed", "panel", "cost", "accuracy"], label), ["accuracy"], label)
    summary = over_seeds(table, ["panel", "run"], ["cost", "accuracy"])
    known = summary.dropna(subset=["cost", "accuracy"])
    figure, grouped = _stacked(filled(known, [], label))
    styles = looks(list(known.run.unique()))
    for axes, part in grouped:
        _draw_pareto(axes, part, styles)
        axes.set(xlabel=label, ylabel="SNN accuracy (%)")
    _name_absent(figure, {*summary.run} - {*known.run})
    return figure


def pareto_front(costs: Sequence[float], accuracies: Sequence[float]) -> list[int]:
    """Places of the points that no other beats in one of the two without losing in the other, cheapest first."""
    points = list(zip(costs, accuracies, strict=True))
    beaten = [
        any(cost <= c and accuracy >= a and (cost, accuracy) != (c, a) for cost, accuracy in points) for c, a in points
    ]
    return sorted((place for place, lost in enumerate(beaten) if not lost), key=lambda place: points[place])


def _with_panel(results: Results, table: pd.DataFrame) -> pd.DataFrame:
    panels = {result.run: f"{result.dataset}, {result.network}" for result in results}
    return table.assign(panel=table.run.map(panels))


def _name_absent(figure: Figure, runs: set[str]) -> None:
    footnote(figure, f"not shown in full, results missing: {', '.join(sorted(runs))}" if runs else "")


def _stacked(table: pd.DataFrame) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """One panel under the other, each tall enough for the legend beside it."""
    groups = list(table.groupby("panel", sort=False))
    heights = [legend_inches(part.run.nunique() + 1) for _, part in groups]
    figure, axes = panels(len(groups), 1, PAGE_IN, sum(heights), height_ratios=heights)
    for panel, (name, _) in zip(axes.flat, groups, strict=True):
        panel.set_title(name)
    return figure, [(panel, part) for panel, (_, part) in zip(axes.flat, groups, strict=True)]


def _draw_timesteps(axes: Axes, curves: pd.DataFrame, exact: pd.DataFrame) -> None:
    plain = over_seeds(curves, ["run", "timesteps"], ["accuracy"])
    styles = looks(list(curves.run.unique()))
    for run, look in styles.items():
        part = plain[plain.run == run].sort_values("timesteps")
        axes.errorbar(part.timesteps, 100 * part.accuracy, _percent(part.accuracy_std), label=run, **_THIN, **look)
    for star in exact.itertuples():
        colour, height = styles[star.run]["color"], 100 * star.snn_accuracy
        axes.axhline(height, color=colour, lw=0.6, linestyle=":")
        axes.plot(star.t_eff, height, marker="*", ms=11, mec="0.2", mew=0.6, color=colour, zorder=5)
    if len(exact):
        axes.plot([], [], marker="*", ms=9, mec="0.2", color="white", linestyle="none", label="PASC, same colour")
    axes.set_xscale("log", base=2)
    ticks = sorted(curves.timesteps.unique())
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.legend(title="plain IF", **BESIDE)


def _draw_pareto(axes: Axes, summary: pd.DataFrame, styles: dict[str, dict[str, Any]]) -> None:
    front = summary.iloc[pareto_front(list(summary.cost), list(summary.accuracy))]
    axes.step(front.cost, 100 * front.accuracy, where="post", color="0.4", lw=1, linestyle="--", label="Pareto front")
    for run, part in summary.groupby("run", sort=False):
        look = {**styles[run], "linestyle": "none", "ms": 6, "mec": "0.2", "mew": 0.5, "label": run}
        spread = {"yerr": _percent(part.accuracy_std), "xerr": part.cost_std.fillna(0)}
        axes.errorbar(part.cost, 100 * part.accuracy, **spread, **_THIN, **look)
    axes.margins(0.08)
    axes.legend(**BESIDE)


def _percent(deviation: pd.Series) -> NDArray:
    return 100 * np.nan_to_num(deviation.to_numpy(float))
