"""The AL metric of each layer: its clusters, and how it moves with the threshold of Van der Eijk's agreement."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, StrMethodFormatter

from pascal.report.registry import figure
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, filled, frame
from pascal.report.style import BESIDE, MARKERS, PAGE_IN, level_colours, looks, name_layers, panels, styled

_SEEDS = ("-", ":", "-.")  # dashes part clusters
_NAMED = 6  # more seeds than these would fill the legend


@figure(
    "The AL metric of each layer, one line per seed (side by side, named at its end); the mark is the level that its "
    "cluster got. A high metric allows few levels. With one seed, dashed lines part the clusters.",
    files=("metric", "levels"),
    per_run=True,
    kinds=("derived",),
)
def metric(runs: Results) -> Figure:
    """With the level that each layer got, for each seed that has both."""
    table = frame(gather(runs, "metric"), ["layer", "metric"], "metric.csv")
    levels = {(run.seed, layer): level for run in runs for layer, level in (run.get("levels") or {}).items()}
    table["level"] = [levels.get(key) for key in zip(table.seed, table.layer, strict=True)]
    return metric_figure(table.dropna(subset="level").astype({"level": int}))


@figure(
    "The AL metric of each layer for three thresholds below which a level counts as empty and both readings of the "
    "moments, mean over seeds. Where lines part, the assignment depends on the threshold; the axes name their "
    "scales.",
    files=("metric_by_k",),
    per_run=True,
    kinds=("derived",),
)
def metric_threshold(runs: Results) -> Figure:
    """One panel for each reading of the moments."""
    return metric_threshold_figure(gather(runs, "metric_by_k"))


@styled
def metric_figure(rows: Rows) -> Figure:
    """The AL metric M of each layer with the cluster it fell into, one line per seed.

    Columns: layer, metric, level (the one assigned), and seed if there are several. A layer without a metric is a
    constant one.
    """
    table = filled(rows, ["layer", "metric", "level"], "metric.csv")
    layers = list(table.layer.unique())
    figure, ((axes,),) = panels(1, 1, PAGE_IN, 3.0)
    means = table.groupby("layer", sort=False)["metric"].mean()
    table["seed"] = table.get("seed", 0)
    seeds = list(table.seed.unique())
    apart = dict(zip(seeds, np.linspace(-0.18, 0.18, len(seeds)) if len(seeds) > 1 else [0.0], strict=True))
    table["place"] = [layers.index(layer) + apart[seed] for layer, seed in zip(table.layer, table.seed, strict=True)]
    for number, (seed, part) in enumerate(table.groupby("seed", sort=False)):
        axes.plot(part.place, part.metric, color="0.6", lw=0.8, linestyle=_SEEDS[number % len(_SEEDS)], zorder=1)
        if 1 < len(seeds) <= _NAMED:
            axes.plot([], [], color="0.6", lw=0.8, linestyle=_SEEDS[number % len(_SEEDS)], label=f"seed {seed}")
    colours = sorted(level_colours(list(table.level)).items(), reverse=True)
    for number, (level, colour) in enumerate(colours):
        part = table[(table.level == level) & table.metric.notna()]
        look = {"marker": MARKERS[number % len(MARKERS)], "color": colour, "edgecolor": "0.2"}
        axes.scatter(part.place, part.metric, s=26, lw=0.4, zorder=3, label=f"L = {level}", **look)
    _scale(axes, table.metric)
    _mark_clusters(axes, table)
    _mark_constant(axes, means)
    name_layers(axes, layers)
    axes.legend(title="levels and seeds" if len(seeds) > 1 else "assigned levels", **BESIDE)
    return figure


@styled
def metric_threshold_figure(rows: Rows) -> Figure:
    """The AL metric for several thresholds α = k/|L_tot| below which a bin counts as empty; seeds are averaged.

    Columns: moments (a panel for each reading of them), k, layer, metric.
    """
    table = filled(rows, ["moments", "k", "layer", "metric"], "metric by k")
    layers, readings = list(table.layer.unique()), list(table.moments.unique())
    figure, grid = panels(len(readings), 1, PAGE_IN, 0.8 + 2.2 * len(readings), sharex=True)
    for axes, reading in zip(grid.flat, readings, strict=True):
        _draw_thresholds(axes, table[table.moments == reading], layers)
        axes.set_title(f"moments of the {reading}")
    name_layers(grid[-1, 0], layers)
    grid[0, 0].legend(title="bins are empty below\nα = k / layers", **BESIDE)
    return figure


def _draw_thresholds(axes: Axes, table: pd.DataFrame, layers: list[str]) -> None:
    ks = sorted(table.k.unique(), reverse=True)
    sizes = np.linspace(7, 3, len(ks))  # where metrics agree, the smaller mark stands on the larger
    for k, size, look in zip(ks, sizes, looks([str(k) for k in ks]).values(), strict=True):
        means = table[table.k == k].groupby("layer", sort=False)["metric"].mean().reindex(layers)
        axes.plot(range(len(layers)), means, label=f"k = {k:g}", markersize=size, **look)
    _scale(axes, table.metric)
    axes.grid(False, axis="x")


def _scale(axes: Axes, metric: pd.Series) -> None:
    """Kurtosis makes the metric span decades: a linear axis would then show the largest layer alone."""
    positive = metric[metric > 0]
    axes.set_ylabel("AL metric M (linear)")
    if positive.empty or positive.max() <= 30 * positive.min():
        axes.margins(y=0.1)
        return
    smallest, largest = float(positive.min()), float(positive.max())
    locator = LogLocator(subs=(1, 2, 5) if largest < 1000 * smallest else (1,))
    if (metric.dropna() > 0).all():
        axes.set_yscale("log")
        axes.set_ylabel("AL metric M (logarithmic)")
        axes.yaxis.set_major_locator(locator)
    else:  # LogLocator itself would cut off zero
        axes.set_yscale("symlog", linthresh=smallest)
        axes.set_ylabel(f"AL metric M\n(logarithmic above {smallest:.2g})")
        ticks = np.asarray(locator.tick_values(smallest, largest))
        axes.yaxis.set_major_locator(FixedLocator([0, *ticks[ticks >= smallest]]))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _mark_clusters(axes: Axes, table: pd.DataFrame) -> None:
    """A line between neighbouring clusters, where one seed gives one clustering."""
    known = table.dropna(subset="metric")
    if known.layer.duplicated().any():
        return
    spans = known.groupby("level")["metric"].agg(["min", "max"]).sort_values("min")
    for lower, upper in zip(spans["max"].iloc[:-1], spans["min"].iloc[1:], strict=True):
        between = np.sqrt(lower * upper) if axes.get_yscale() == "log" else (lower + upper) / 2
        axes.axhline(between, color="0.4", lw=0.8, linestyle="--", zorder=2)


def _mark_constant(axes: Axes, means: pd.Series) -> None:
    for place in np.flatnonzero(means.isna()).tolist():
        top = axes.get_xaxis_transform()
        axes.text(place, 0.97, "constant", rotation=90, fontsize=6, ha="center", va="top", transform=top)
