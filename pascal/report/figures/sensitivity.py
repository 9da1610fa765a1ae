"""Under which assumptions the SNN needs less energy than the ANN: ratios as points around one."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from pascal.report.registry import figure
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, filled
from pascal.report.style import BESIDE, COLOURS, PAGE_IN, PALETTE, panels, styled

_RATIO = "Energy$_\\mathrm{ANN}$ / Energy$_\\mathrm{SNN}$ (right of 1 the SNN wins)"
_SCOPES = {
    "ann_over_snn_compute": ("compute", {"color": PALETTE[0], "marker": "o"}),
    "ann_over_snn_on_chip": ("on chip", {"color": PALETTE[1], "marker": "s"}),
    "ann_over_snn_with_dram": ("with DRAM", {"color": PALETTE[2], "marker": "^"}),
}


@figure(
    "Energy of the ANN over that of the SNN, with and without memory, against four kinds of ANN (see energy "
    "components). Left of 1 the ANN needs less.",
    files=("energy_sensitivity",),
    per_run=True,
)
def energy_sensitivity(runs: Results) -> Figure:
    """One panel per arithmetic."""
    return energy_sensitivity_figure(gather(runs, "energy_sensitivity"))


@figure(
    "Energy of SparTen with the ANN over that of LoAS with PASC when one parameter of the accelerator moves and the "
    "others stay; dashed lines are the default, pascal40. Left of 1 the ANN needs less.",
    files=("hardware_sensitivity",),
    per_run=True,
)
def hardware_sensitivity(runs: Results) -> Figure:
    """One row per value of a parameter."""
    return hardware_sensitivity_figure(gather(runs, "hardware_sensitivity"))


@styled
def energy_sensitivity_figure(rows: Rows) -> Figure:
    """Energy_ANN/Energy_SNN under every assumption, one panel per arithmetic; a line spans the seeds.

    Columns: costs, memory, skip_zeros, low_bits, ann_pj, snn_pj, as `energy.sensitivity` gives them.
    """
    table = filled(rows, ["costs", "memory", "skip_zeros", "low_bits", "ann_pj", "snn_pj"], "energy sensitivity")
    table["ratio"] = table.ann_pj / table.snn_pj
    table["label"] = [_assumption(row) for row in table.to_dict("records")]
    groups = list(table.groupby("costs", sort=False))
    heights = [0.45 + 0.17 * part.label.nunique() for _, part in groups]
    figure, axes = panels(len(groups), 1, PAGE_IN, 0.4 + sum(heights), height_ratios=heights, sharex=True)
    for axis, (costs, part) in zip(axes.flat, groups, strict=True):
        spread = _spread(part, "ratio")
        for wins, look in ((spread["mean"] > 1, _WINS["SNN"]), (spread["mean"] <= 1, _WINS["ANN"])):
            _draw_points(axis, spread, wins.to_numpy(), **look)
        _name_rows(axis, list(spread.index))
        axis.set_title(costs, loc="left")
    _ratio_axis(axes.flat[-1], table.ratio)
    axes.flat[0].legend(**BESIDE)
    return figure


@styled
def hardware_sensitivity_figure(rows: Rows) -> Figure:
    """Energy of the ANN's machine over the SNN's when one parameter moves, all others fixed; a line spans the seeds.

    Columns: parameter, value, ann_over_snn_compute, ann_over_snn_on_chip, ann_over_snn_with_dram.
    """
    table = filled(rows, ["parameter", "value", *_SCOPES], "hardware sensitivity")
    table["label"] = [_named(*pair) for pair in zip(table.parameter.astype(str), table.value, strict=True)]
    labels = table.drop_duplicates("label")
    figure, ((axes,),) = panels(1, 1, PAGE_IN, 0.8 + 0.17 * len(labels))
    standing = table[table.parameter == "weight_density"]
    default = standing[pd.to_numeric(standing.value, errors="coerce") == 1]  # dense weights: nothing has moved
    for column, (name, look) in _SCOPES.items():
        if len(default):
            axes.axvline(default[column].mean(), color=look["color"], lw=0.8, linestyle="--", zorder=1)
        spread = _spread(table, column)
        _draw_points(axes, spread, np.isfinite(spread["mean"].to_numpy()), label=name, **look)
    _name_rows(axes, list(labels.label))
    _shade_parameters(axes, labels.parameter)
    _ratio_axis(axes, table[list(_SCOPES)].stack())
    axes.legend(title="energy counted", **BESIDE)
    return figure


_PARAMETERS = {
    "dram_bit_pj": "DRAM, pJ per bit",
    "cell": "SRAM cell",
    "prices": "prices of operations",
    "act_bits": "bits of an ANN activation",
    "profile": "cycles of the join",
    "pes": "processing elements",
    "overlap": "PE and neuron unit",
    "schedule": "schedule of the PEs",
    "batch": "images per batch",
    "memory": "memory",
    "weight_density": "weights kept",
}
_VALUES = {
    "lop": "low operating power",
    "hp": "high performance",
    "lstp": "low standby power",
    "synthesis40": "synthesis, 40 nm",
    "aladdin40": "Aladdin, 40 nm",
    "h1": "hypothesis h1",
    "nf": "NeuroFlex's code",
    "cons": "conservative",
    "dynamic": "first free PE",
    "lpt": "longest first",
    "barrier": "barriers",
    "barrier_n": "barriers over neurons",
    "gb": "greedy balancing",
    "True": "on",
    "False": "off",
}


def _named(parameter: str, value: object) -> str:
    """In words; a parameter or value without any keeps its name."""
    text = f"{float(str(value)):.0%}" if parameter == "weight_density" else _text(value)
    return f"{_PARAMETERS.get(parameter, parameter)}: {_VALUES.get(text, text)}"


_WINS: dict[str, dict[str, Any]] = {
    "SNN": {"color": COLOURS["good"], "marker": "o", "label": "SNN wins"},
    "ANN": {"color": COLOURS["bad"], "marker": "v", "label": "ANN wins"},
}


def _assumption(row: Mapping[str, Any]) -> str:
    guise = [name for key, name in (("skip_zeros", "zero-skipping"), ("low_bits", "low-bit")) if _true(row[key])]
    return f"{' '.join([*guise, 'ANN'])}, {'with' if _true(row['memory']) else 'without'} memory"


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _true(cell: object) -> bool:
    return str(cell) in ("True", "1", "1.0")


def _spread(table: pd.DataFrame, column: str) -> pd.DataFrame:
    return table.groupby("label", sort=False)[column].agg(["mean", "min", "max"])


def _draw_points(axes: Axes, spread: pd.DataFrame, chosen: np.ndarray, label: str, color: Any, marker: str) -> None:
    places, part = np.flatnonzero(chosen), spread[chosen]
    axes.hlines(places, part["min"], part["max"], color=color, lw=1)
    axes.plot(part["mean"], places, marker, color=color, ms=5, label=label, linestyle="none")


def _name_rows(axes: Axes, labels: list[str]) -> None:
    axes.axvline(1, color="0.3", lw=1, zorder=1)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)


def _shade_parameters(axes: Axes, parameters: pd.Series) -> None:
    """Every second parameter on grey, so that its values read as one group."""
    groups = (parameters != parameters.shift()).cumsum().to_numpy()
    for place in np.flatnonzero(groups % 2 == 0):
        axes.axhspan(place - 0.5, place + 0.5, color="0.93", lw=0, zorder=0)


def _ratio_axis(axes: Axes, ratios: pd.Series) -> None:
    finite = ratios[np.isfinite(ratios) & (ratios > 0)]
    low, high = min(finite.min(), 1) / 1.15, max(finite.max(), 1) * 1.15
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low > 4 else (1, 1.2, 1.5, 2, 2.5, 3, 4, 6, 8)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(_RATIO)
