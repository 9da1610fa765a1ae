"""The look that all figures share: sizes for print, colours that colour-blind people tell apart, reproducible bytes."""

import os
from collections.abc import Callable, Sequence
from functools import wraps
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any, ParamSpec

import seaborn as sns
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pascal.files import write_bytes

COLUMN_IN, PAGE_IN = 3.5, 7.0  # widths of one column and of the page

STYLE: Any = {  # rcParams
    **sns.axes_style("whitegrid"),
    **sns.plotting_context("paper"),
    "font.family": "DejaVu Sans",  # comes with matplotlib, so every machine draws the same letters
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "figure.titlesize": 9,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "grid.linewidth": 0.5,
    "axes.linewidth": 0.8,
    "patch.force_edgecolor": False,
    "hatch.linewidth": 0.5,
    "pdf.fonttype": 42,  # letters stay text
    "figure.dpi": 100,
    "savefig.dpi": 200,
}

PALETTE: list[Any] = sns.color_palette("colorblind")
COLOURS = {"ANN": PALETTE[7], "PASC": PALETTE[0], "IF": PALETTE[1], "good": PALETTE[0], "bad": PALETTE[3]}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":", "-.")
HEAT = "cividis"
BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}  # of a legend

# What savefig would fill with a version or the time of day.
_METADATA = {"png": {"Software": None}, "pdf": {"Creator": None, "Producer": None, "CreationDate": None}}

P = ParamSpec("P")


def styled(make: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw a figure in this style without changing anyone else's settings."""

    @wraps(make)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with rc_context(STYLE):
            return make(*args, **kwargs)

    return in_style


def panels(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Figure, NDArray]:
    """A figure of the given inches and its grid of axes; no pyplot, so nothing stays open."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def save_figure(figure: Figure, stem: str | os.PathLike[str]) -> list[Path]:
    """Write `stem.png` and `stem.pdf`; the same figure gives the same bytes."""
    written = []
    for kind, metadata in _METADATA.items():
        buffer = BytesIO()
        with rc_context(STYLE):
            figure.savefig(buffer, format=kind, metadata=metadata)
        written.append(write_bytes(f"{os.fspath(stem)}.{kind}", buffer.getvalue()))
    return written


def looks(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A colour, marker and line of its own for each name: told apart in grey too; over 80 names repeat."""
    kinds = [
        {"color": colour, "marker": MARKERS[(index + shift) % len(MARKERS)], "linestyle": LINES[shift % len(LINES)]}
        for shift, (index, colour) in product(range(len(MARKERS)), enumerate(PALETTE))
    ]
    return {name: kinds[index % len(kinds)] for index, name in enumerate(names)}


def level_colours(levels: Sequence[int]) -> dict[int, Any]:
    """Dark for few levels, light for many, never too light for paper."""
    ordered = sorted(set(levels))
    return dict(zip(ordered, sns.color_palette("viridis", len(ordered) + 1)[: len(ordered)], strict=True))


def name_layers(axes: Axes, layers: Sequence[str]) -> None:
    """One upright tick label for each layer at x = 0, 1, …; long paths keep their end."""
    size = 7 if len(layers) <= 40 else 5
    axes.set_xticks(range(len(layers)), [shorten(layer) for layer in layers], rotation=90, fontsize=size)
    axes.set_xlim(-0.6, len(layers) - 0.4)
    axes.grid(False, axis="x")
    axes.set_xlabel("layer")


def shorten(text: str, letters: int = 24) -> str:
    """The end of a long path tells layers apart; the beginning is common."""
    return text if len(text) <= letters else "…" + text[1 - letters :]


def energy_unit(largest_pj: float) -> tuple[float, str]:
    """Divisor and name of the unit in which the largest energy has one to three digits before the point."""
    for divisor, unit in ((1e9, "mJ"), (1e6, "µJ"), (1e3, "nJ")):
        if largest_pj >= divisor:
            return divisor, unit
    return 1.0, "pJ"


def legend_inches(entries: int) -> float:
    """Height of a panel whose legend stands beside it."""
    return max(2.7, 0.6 + 0.15 * entries)


def footnote(figure: Figure, text: str) -> None:
    """A remark under the panels."""
    if text:
        figure.supxlabel(text, fontsize=6, x=0.01, ha="left", color="0.3")
