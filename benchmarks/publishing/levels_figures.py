"""Figures of the studies of levels: cost against accuracy, and the metric against what is measured."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure

from pascal.report.style import COLOURS, PAGE_IN, PALETTE, level_colours, panels, styled

if TYPE_CHECKING:
    from benchmarks.publishing.levels_page import Group

LOOKS: dict[str, dict[str, Any]] = {
    "planner": {"color": COLOURS["PASC"], "marker": "o", "linestyle": "-", "zorder": 4},
    "uniform": {"color": PALETTE[2], "marker": "s", "linestyle": "", "zorder": 3},
    "AL metric": {"color": PALETTE[1], "marker": "^", "linestyle": "", "zorder": 3},
    "random order": {"color": "0.6", "marker": "x", "linestyle": "", "zorder": 2},
}


@styled
def studies_figure(studies: Mapping[str, Sequence["Group"]]) -> Figure:
    """A panel for each network: all ways to choose levels, thresholds kept or fitted."""
    figure, (row,) = panels(1, len(studies), PAGE_IN, 2.8)
    for axes, (network, groups) in zip(row, studies.items(), strict=True):
        for name, look in LOOKS.items():
            points = [(g.cost, r["accuracy"]) for g in groups if g.name.startswith(name) for r in g.rows]
            axes.plot([cost for cost, _ in points], [100 * share for _, share in points], label=name, **look)
        axes.set(title=network, xlabel="levels in all", ylabel="test accuracy, %")
    row[0].legend(loc="lower right")
    return figure


@styled
def metric_study_figure(table: pd.DataFrame) -> Figure:
    """A panel for each network: a layer's metric against the KL that fewer levels there add to the output."""
    networks = list(table.network.unique())
    figure, (row,) = panels(1, len(networks), PAGE_IN, 2.8)
    for axes, network in zip(row, networks, strict=True):
        part = table[table.network == network]
        for level, colour in level_colours(list(part.levels)).items():
            some = part[part.levels == level]
            label = f"L = {level}: ρ = {some.metric_spearman.iloc[0]:.2f}"
            look = {"color": colour, "marker": "o" if level > 1 else "^", "linestyle": "", "elinewidth": 0.8}
            axes.errorbar(some.metric, some.loss, some.error, label=label, **look)
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=0.01)
        axes.set(title=network, xlabel="AL metric", ylabel="KL added by fewer levels, nats")
        axes.legend(loc="best")
    return figure
