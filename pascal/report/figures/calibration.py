"""What calibration without training did to each layer of a network that others trained."""

from matplotlib.figure import Figure

from pascal.report.registry import figure
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, filled
from pascal.report.style import BESIDE, PAGE_IN, looks, name_layers, panels, styled


@figure(
    "How far the values of each layer are from those of the float network, in parts of their energy, before and after "
    "its calibration, mean over seeds. The layers before it are calibrated in both.",
    files=("calibration",),
    per_run=True,
    kinds=("calibrated",),
)
def calibration(runs: Results) -> Figure:
    """Of every layer, and of the readout."""
    return calibration_figure(gather(runs, "calibration"))


@styled
def calibration_figure(rows: Rows) -> Figure:
    """Relative squared errors by layer. Columns: path, before, after."""
    table = filled(rows, ["path", "before", "after"], "calibration.csv")
    layers = list(table.path.unique())
    means = table.groupby("path", sort=False)[["before", "after"]].mean()
    figure, ((axes,),) = panels(1, 1, PAGE_IN, 3.0)
    for column, look in looks(["before", "after"]).items():
        axes.plot(range(len(layers)), means[column], label=column, **look)
    axes.set_yscale("log" if (means > 0).all(axis=None) else "linear")
    axes.set_ylabel("squared error / energy")
    name_layers(axes, layers)
    axes.legend(title="calibration", **BESIDE)
    return figure
