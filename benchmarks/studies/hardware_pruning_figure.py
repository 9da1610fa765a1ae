"""Accuracy, energy and latency over the density of the weights."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from pascal.report.style import COLOURS, PAGE_IN, PALETTE, footnote, panels, styled

NAMES = {"ann": "SparTen, QCFS", "pasc": "LoAS, PASC", "if": "LoAS, plain IF"}
LOOKS = {
    "ann": {"color": COLOURS["ANN"], "marker": "s"},
    "pasc": {"color": COLOURS["PASC"], "marker": "o"},
    "if": {"color": COLOURS["IF"], "marker": "^"},
}


@styled
def pruning_figure(table: pd.DataFrame) -> Figure:
    """Four panels that share the density of the weights."""
    figure, grid = panels(2, 2, PAGE_IN, 4.6)
    accuracy, energy, latency, ratio = grid.flat
    _draw_accuracy(accuracy, table)
    for name, look in LOOKS.items():
        energy.plot(table.weight_density, table[f"{name}_uj"], label=NAMES[name], **look)
        energy.plot(table.weight_density, table[f"{name}_uj_without_dram"], linestyle=":", **look)
        latency.plot(table.weight_density, table[f"{name}_ms"], label=NAMES[name], **look)
    energy.set(ylabel="energy per image, µJ", title="solid: all, dotted: without DRAM", ylim=(0, None))
    latency.set(ylabel="latency per image, ms", ylim=(0, None))
    _draw_ratios(ratio, table)
    for axes in grid.flat:
        _density_axis(axes, table.weight_density)
        axes.legend(loc="upper left" if axes is accuracy else "best")
    row = table.iloc[0]
    footnote(
        figure,
        f"{row.preset}, {row.pes} PEs, spikes of {row.images} test images; accuracy of {row.test_images:,} test images",
    )
    return figure


def _draw_accuracy(axes: Axes, table: pd.DataFrame) -> None:
    shown = {"accuracy": ("PASC = ANN", LOOKS["pasc"]), "if_accuracy": ("plain IF, T = L", LOOKS["if"])}
    for column, (name, look) in shown.items():
        axes.plot(table.weight_density, 100 * table[column], label=name, **look)
    as_pruned = {"color": COLOURS["PASC"], "marker": "o", "linestyle": ":", "label": "PASC, statistics as trained"}
    axes.plot(table.weight_density, 100 * table.accuracy_as_pruned, **as_pruned)
    axes.set(ylabel="accuracy, %", ylim=(0, 100))


def _draw_ratios(axes: Axes, table: pd.DataFrame) -> None:
    for shift, overlap in enumerate(("blocking", "pipelined")):
        for suffix, line, whose in (("", "-", "own spikes"), ("_same_spikes", ":", "the same spikes")):
            column = table[f"pasc_over_if_latency_{overlap}{suffix}"]
            look = {"color": PALETTE[2 + shift], "marker": "oD"[shift], "linestyle": line}
            axes.plot(table.weight_density, column, label=f"{overlap}, {whose}", **look)
    axes.axhline(1, color="0.4", linewidth=0.8)
    axes.margins(y=0.3)
    axes.set(ylabel="latency, PASC / plain IF")


def _density_axis(axes: Axes, densities: pd.Series) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(densities, [f"{density:g}" for density in densities])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("share of weights kept")
