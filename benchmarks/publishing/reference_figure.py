"""The reference runs at a glance: plain IF over its timesteps, and levels by the metric beside levels by chance."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from pascal.report.style import COLOURS, PAGE_IN, PALETTE, footnote, looks, panels, styled

if TYPE_CHECKING:
    from benchmarks.publishing.reference_tables import Reference

ORDERS: dict[str, dict[str, Any]] = {
    "metric": {"color": COLOURS["PASC"], "marker": "o", "zorder": 3},
    "reversed": {"color": PALETTE[3], "marker": "v", "zorder": 3},
    "random": {"color": "0.55", "marker": "x", "zorder": 2},
    "uniform": {"color": PALETTE[2], "marker": "s", "zorder": 3},
    "planned": {"color": PALETTE[4], "marker": "D", "zorder": 3},
    "trained elsewhere": {"color": "black", "marker": "*", "zorder": 3},
}


@styled
def reference_figure(reference: "Reference", trained: Iterable[str], starts: dict[str, dict[str, list[str]]]) -> Figure:
    """`trained` are runs with uniform levels; `starts` has, by the run they start from, the runs of every order."""
    figure, grid = panels(1, 1 + len(starts), PAGE_IN, 2.7)
    timesteps, *orders = grid.flat
    images = _draw_timesteps(timesteps, reference, list(trained))
    for axes, (start, groups) in zip(orders, starts.items(), strict=True):
        _draw_orders(axes, reference, groups)
        axes.set(title=f"levels, from {start}", xlabel="$T_\\mathrm{eff}$", ylabel="test accuracy (%)")
    footnote(figure, f"Left: {' or '.join(sorted(images))} test images; the others: all 10,000.")
    return figure


def _draw_timesteps(axes: Axes, reference: "Reference", runs: list[str]) -> set[str]:
    """Curves of plain IF beside their networks' own accuracies on the same images; how many those are."""
    images, ticks = set(), set[int]()
    for run, look in looks(runs).items():
        for record in reference.of(run):
            curve = {int(t): 100 * accuracy for t, accuracy in record["plain_if"]["accuracy"].items()}
            axes.plot(list(curve), list(curve.values()), label=run, **look)
            axes.axhline(100 * record["plain_if"]["ann_accuracy"], color=look["color"], linestyle=":", linewidth=1)
            images.add(f"{record['plain_if']['images']:,}")
            ticks |= {*curve}
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(ticks), [str(t) for t in sorted(ticks)])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(title="plain IF; dotted: PASC = ANN", xlabel="timesteps T", ylabel="test accuracy (%)", ylim=(0, 100))
    axes.legend(loc="lower right")
    return images


def _draw_orders(axes: Axes, reference: "Reference", groups: dict[str, list[str]]) -> None:
    """A point for each run; equal colours are equal orders, and the text says which values."""
    named = set[str]()
    for group, runs in groups.items():
        order, _, values = group.partition(", ")
        records = [record for record in reference.of(*runs) if record["timesteps"]]
        points = [(record["timesteps"]["t_eff"], 100 * record["snn_accuracy"]) for record in records]
        if not points:
            continue
        axes.scatter(*zip(*points, strict=True), s=22, label=None if order in named else order, **ORDERS[order])
        named.add(order)
        if order not in ("random", "reversed"):
            beside = (5, -8) if order == "metric" else (5, 4)
            axes.annotate(values, points[0], beside, textcoords="offset points", fontsize=6)
    axes.margins(0.18)
    axes.legend(loc="lower right")
