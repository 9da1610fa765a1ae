"""Training curves, with the moment at which an adaptive run takes its own levels."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pascal.report.registry import figure
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, filled, shares
from pascal.report.style import PAGE_IN, PALETTE, panels, styled

_CURVES = {
    "loss": {"loss": "training"},
    "accuracy (%)": {"train_accuracy": "training", "validation_accuracy": "validation"},
    "learning rate": {"learning_rate": "all layers"},
    "threshold θ": {"threshold_max": "largest θ of all layers", "threshold_min": "smallest θ"},
}
_COLUMNS = ["epoch", *[column for curves in _CURVES.values() for column in curves]]


@figure(
    "Loss, accuracy, learning rate and thresholds over the epochs; lines are means, bands span the seeds. At the "
    "dotted line an adaptive run takes its own levels.",
    files=("train",),
    per_run=True,
    kinds=("uniform", "derived", "given", "planned"),
)
def training(runs: Results) -> Figure:
    """Four panels over the epochs."""
    return training_figure(gather(runs, "train"), runs[0].levels_change_epoch)


@styled
def training_figure(rows: Rows, levels_change_epoch: float | None = None) -> Figure:
    """Loss, accuracies, learning rate and thresholds over epochs; the band spans the seeds.

    Columns: epoch, loss, train_accuracy, validation_accuracy (shares), learning_rate, threshold_min, threshold_max.
    `levels_change_epoch` is the last epoch with uniform levels. A validation accuracy may be missing.
    """
    table = filled(rows, _COLUMNS, "train.csv")
    accuracies = list(_CURVES["accuracy (%)"])
    table[accuracies] = 100 * shares(table, accuracies, "train.csv")[accuracies].astype(float)
    figure, axes = panels(2, 2, PAGE_IN, 4.2, sharex=True)
    for panel, (label, curves) in zip(axes.flat, _CURVES.items(), strict=True):
        for number, (column, name) in enumerate(curves.items()):
            _draw_curve(panel, table.groupby("epoch")[column], name, number)
        _finish(panel, label, levels_change_epoch)
    for panel in axes[1]:
        panel.set(xlabel="epoch", xlim=(table.epoch.min() - 0.5, table.epoch.max() + 0.5))
        panel.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    return figure


def _draw_curve(axes: Axes, epochs: "pd.api.typing.SeriesGroupBy", name: str, number: int) -> None:
    mean, low, high = epochs.mean(), epochs.min(), epochs.max()
    if mean.isna().all():
        return
    line, marker = ("-", "--")[number], "o" if len(mean) == 1 else ""
    axes.plot(mean.index, mean, color=PALETTE[number], linestyle=line, marker=marker, label=name)
    if epochs.size().max() > 1:
        axes.fill_between(mean.index, low, high, color=PALETTE[number], alpha=0.25, lw=0)


def _finish(axes: Axes, label: str, levels_change_epoch: float | None) -> None:
    axes.set_ylabel(label)
    if label != "accuracy (%)":
        axes.set_ylim(bottom=0)
    if levels_change_epoch is not None:
        axes.axvline(levels_change_epoch, color="0.3", linestyle=":", label="levels change")
    if len(axes.get_legend_handles_labels()[0]) > 1:
        axes.legend(frameon=True)
