"""Times and memory of the engines beside the ANN's."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pascal.report.style import BESIDE, PAGE_IN, footnote, looks, panels, styled

SHOWN = {  # variant, unit → name in the figure
    ("counts", "ANN"): "counts : ANN",
    ("integer", "ANN"): "integer : ANN",
    ("steps", "ANN"): "steps : ANN",
    ("plain stepwise", "counts"): "paper's method : counts",
    ("SpikingJelly", "counts"): "SpikingJelly : counts",
}


@styled
def engines_figure(times: pd.DataFrame, memory: pd.DataFrame) -> Figure:
    """Ratios of times over levels, one panel per network, and peak memory over the ANN's."""
    networks = list(dict.fromkeys(times["network"]))
    figure, axes = panels(1, len(networks) + 1, PAGE_IN + 1.5, 2.9)
    styles = looks(list(SHOWN.values()))
    for panel, network in zip(axes[0], networks, strict=False):
        _draw_times(panel, times[times["network"] == network], styles)
        panel.set_title(network)
    axes[0][0].set_ylabel("ratio of times")
    axes[0][len(networks) - 1].legend(**BESIDE)
    _draw_memory(axes[0][-1], memory)
    threads, batch = times["threads"].iloc[0], times["batch"].iloc[0]
    footnote(figure, f"Median ratio within one run, {threads} threads, batch {batch}; bars: middle half of the turns; "
                     "grey: L and 1.")  # fmt: skip
    return figure


def _draw_times(axes: Axes, times: pd.DataFrame, styles: dict[str, dict[str, object]]) -> None:
    for (variant, unit), name in SHOWN.items():
        rows = times[(times["variant"] == variant) & (times["unit"] == unit)].sort_values("levels")
        if len(rows):
            spread = [rows["wall_ratio"] - rows["wall_low"], rows["wall_high"] - rows["wall_ratio"]]
            axes.errorbar(rows["levels"], rows["wall_ratio"], yerr=spread, label=name, **styles[name])  # type: ignore[arg-type]
    levels = sorted(times["levels"].unique())
    axes.plot(levels, levels, color="0.6", linewidth=0.8, zorder=0)
    axes.axhline(1, color="0.6", linewidth=0.8, zorder=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(levels, [str(level) for level in levels])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("levels L")


def _draw_memory(axes: Axes, memory: pd.DataFrame) -> None:
    names = [f"{row.network}\n{row.engine}, L={row.levels}" for row in memory.itertuples()]
    axes.barh(names, memory["ratio"], color=["C0" if met else "C3" for met in memory["met"]])
    axes.plot(memory["limit_bytes"] / memory["ann_bytes"], names, "k|", markersize=9)
    axes.invert_yaxis()
    axes.set_xlabel("peak memory : ANN's (| limit)")
