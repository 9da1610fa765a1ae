"""Energy by component, of networks and of simulated machines."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pascal.errors import PascalError
from pascal.report.registry import figure
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, filled, frame
from pascal.report.style import BESIDE, PAGE_IN, PALETTE, energy_unit, panels, styled

_HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo", "--")
_NAMES = {"pe": "PEs", "sram": "SRAM", "static": "leakage", "dram": "DRAM", "neuron": "neurons"}
_SUMS = ("total_pj", "matmul_pj")


@figure(
    "Energy per image by component, one panel per arithmetic: both SNNs, and the ANN as it is, skipping MACs whose "
    "input is zero, and carrying activations in as few bits as their levels need. Components too thin to be seen stand "
    "beside their bar, in hundredths of it.",
    files=("energy",),
    per_run=True,
)
def energy_components(runs: Results) -> Figure:
    """One bar per network."""
    return components_figure(gather(runs, "energy"))


@figure(
    "Energy per image on the simulated accelerators, by component. Labels say machine, neuron, and whether a PE waits "
    "for its neuron unit (blocking) or not (pipelined). Components too thin to be seen stand beside their bar.",
    files=("hardware",),
    per_run=True,
)
def hardware_components(runs: Results) -> Figure:
    """One bar per machine, neuron and overlap."""
    table = frame(gather(runs, "hardware"), ["preset", "machine", "neuron", "overlap"], "hardware.csv")
    bars = table.assign(bar=table.machine + ", " + table.neuron + ", " + table.overlap)
    return components_figure(bars, "preset", "bar")


@styled
def components_figure(rows: Rows, panel: str = "costs", bar: str = "network") -> Figure:
    """Energy per image by component: one bar per network or machine, one panel per arithmetic or preset.

    Columns: the two named by `panel` and `bar`, and the components as `…_pj` (total_pj and matmul_pj are sums of them
    and are left out). Rows of layers are added up, seeds averaged.
    """
    table = filled(rows, [panel, bar], "energy")
    components = [name for name in table if name.endswith("_pj") and name not in _SUMS]
    if not components:
        raise PascalError("energy: no column ends in '_pj'; rerun the stage that writes it")
    per_seed = table.groupby([panel, bar, *{"seed"} & set(table)], sort=False)[components].sum()
    sums = per_seed.groupby(level=[0, 1], sort=False).mean()
    names = list(dict.fromkeys(table[panel]))
    heights = [0.7 + 0.22 * len(sums.loc[name]) for name in names]
    figure, axes = panels(len(names), 1, PAGE_IN, sum(heights), height_ratios=heights)
    for axis, name in zip(axes.flat, names, strict=True):
        _draw_components(axis, sums.loc[name], _looks(sums))
        axis.set_title(name, loc="left")
    axes.flat[0].legend(title="component", **BESIDE)
    return figure


def _looks(sums: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """A component keeps its look from figure to figure; one that is zero everywhere is not shown."""
    return {
        name: {"color": PALETTE[place % len(PALETTE)], "hatch": _HATCHES[place % len(_HATCHES)]}
        for place, name in enumerate(sums)
        if sums[name].any()
    }


def _hidden(parts: pd.Series) -> str:
    """In words what is too thin to be seen: components below two hundredths of the bar."""
    shares = parts[parts > 0] / parts.sum()
    thin = [f"{_name(str(name))} {share:.1g}" for name, share in (100 * shares[shares < 0.02]).items()]
    return f"  {', '.join(thin)} %" if thin else ""


def _name(component: str) -> str:
    return _NAMES.get(component.removesuffix("_pj"), component.removesuffix("_pj"))


def _draw_components(axes: Axes, sums: pd.DataFrame, looks: Mapping[str, dict[str, Any]]) -> None:
    divisor, unit = energy_unit(float(sums.sum(axis=1).max()))
    left = np.zeros(len(sums))
    for component, look in looks.items():
        values = sums[component].to_numpy() / divisor
        style = {"height": 0.7, "edgecolor": "white", "lw": 0.4, **look}
        axes.barh(range(len(sums)), values, left=left, label=_name(component), **style)
        left += values
    for row, (_, parts) in enumerate(sums.iterrows()):
        axes.text(left[row], row, _hidden(parts), fontsize=6, va="center", color="0.25")
    axes.set_xlim(0, left.max() * (2.0 if any(_hidden(parts) for _, parts in sums.iterrows()) else 1.05))
    axes.set_yticks(range(len(sums)), list(sums.index))
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_xlabel(f"energy per image ({unit})")
