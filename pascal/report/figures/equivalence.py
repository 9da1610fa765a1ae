"""The certificate as a picture: spike counts of the SNN against levels of the ANN."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from pascal.report.registry import figure
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, filled
from pascal.report.style import HEAT, PAGE_IN, panels, styled


@figure(
    "Spike count of the SNN against level of the ANN, for every neuron of every layer: PASC left, plain IF right. "
    "Neurons off the diagonal differ.",
    files=("counts",),
    per_run=True,
)
def equivalence(runs: Results) -> Figure:
    """Both neurons side by side."""
    return equivalence_figure(gather(runs, "counts"))


@styled
def equivalence_figure(rows: Rows) -> Figure:
    """Spike count of the SNN against level of the ANN, as numbers of neurons; exact conversion fills the diagonal.

    Columns: neuron (say PASC, plain IF), ann_count, snn_count, neurons; layers, images and seeds are added up.
    """
    table = filled(rows, ["neuron", "ann_count", "snn_count", "neurons"], "counts of ANN and SNN")
    size = int(max(table.ann_count.max(), table.snn_count.max())) + 1
    grids = {kind: _grid(part, size) for kind, part in table.groupby("neuron", sort=False)}
    figure, axes = panels(1, len(grids), min(PAGE_IN, 1.0 + 2.9 * len(grids)), 3.3)
    norm = LogNorm(1, max(10, *(int(grid.max()) for grid in grids.values())))
    for panel, (kind, grid) in zip(axes.flat, grids.items(), strict=True):
        image = _draw(panel, grid, norm)
        differing = int(grid.sum() - np.trace(grid))
        panel.set_title(_verdict(kind, differing, int(grid.sum())))
    figure.colorbar(image, ax=list(axes.flat), label="neurons, over all layers and images", shrink=0.8)
    return figure


def _verdict(kind: str, differing: int, compared: int) -> str:
    if not differing:
        return f"{kind}: all {compared:,} counts\nequal the ANN's levels"
    return f"{kind}: {differing:,} of {compared:,} counts\ndiffer from the ANN's levels ({differing / compared:.2%})"


def _grid(table: pd.DataFrame, size: int) -> NDArray:
    grid = np.zeros((size, size), dtype=np.int64)
    np.add.at(grid, (table.snn_count.to_numpy(int), table.ann_count.to_numpy(int)), table.neurons.to_numpy(np.int64))
    return grid


def _draw(axes: Axes, grid: NDArray, norm: LogNorm) -> AxesImage:
    axes.set(xlabel="level of the ANN", ylabel="spike count of the SNN")
    axes.grid(False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(8, integer=True))
    return axes.imshow(np.ma.masked_equal(grid, 0), origin="lower", cmap=HEAT, norm=norm)
