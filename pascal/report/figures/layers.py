"""Figures with one place per layer: levels taken, spikes, activity over time."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pascal.report.registry import figure
from pascal.report.results import Results, gather
from pascal.report.rows import Rows, filled, frame, over_seeds
from pascal.report.style import (
    BESIDE,
    HEAT,
    PAGE_IN,
    PALETTE,
    legend_inches,
    looks,
    name_layers,
    panels,
    shorten,
    styled,
)


@figure(
    "How often each level is taken in each layer of the starting run, over training images. Layers that crowd at one "
    "level need few.",
    files=("histogram",),
    per_run=True,
)
def histogram(runs: Results) -> Figure:
    """One panel per layer."""
    return histogram_figure(gather(runs, "histogram"))


@figure(
    "Spikes per neuron and image in each layer, mean ± std over seeds: the paper's SpikeRate. A layer cannot spike "
    "more often than it has levels.",
    files=("workload",),
)
def spikes(results: Results) -> Figure:
    """Each activation by the layer that owns its neurons; one panel per network."""
    networks = {result.run: result.network for result in results}
    table = frame(gather(results, "workload"), ["activation", "neurons", "spikes_per_neuron"], "workload.csv")
    owners = table[(table.activation != "") & table.spikes_per_neuron.notna() & (table.neurons > 0)]
    return spikes_figure(owners.assign(network=owners.run.map(networks), layer=owners.activation))


@figure(
    "Share of a layer's neurons that fire in each timestep of its train, mean over images and seeds. Trains are "
    "earliest-first, so that it falls along a row; a layer has as many timesteps as levels.",
    files=("activity",),
    per_run=True,
)
def activity(runs: Results) -> Figure:
    """Layer by timestep."""
    return activity_figure(gather(runs, "activity"))


@styled
def histogram_figure(rows: Rows) -> Figure:
    """How often each level is taken, one panel per layer. Columns: layer, level, count; seeds are added up."""
    table = filled(rows, ["layer", "level", "count"], "histogram.csv")
    counts = table.groupby(["layer", "level"], sort=False)["count"].sum()
    layers = list(table.layer.unique())
    columns = _columns(len(layers))
    height = -(-len(layers) // columns)
    figure, axes = panels(height, columns, PAGE_IN, 0.6 + 0.95 * height, sharey=True)
    for panel, layer in zip(axes.flat, layers, strict=False):
        _draw_histogram(panel, layer, 100 * counts[layer] / counts[layer].sum())
    for unused in axes.flat[len(layers) :]:
        unused.remove()
    figure.supxlabel("level", fontsize=8)
    figure.supylabel("neurons (%)", fontsize=8)
    return figure


@styled
def spikes_figure(rows: Rows) -> Figure:
    """Spikes per neuron in each layer (SpikeRate), one line per run, mean ± std over seeds, one panel per network.

    Columns: run, seed, network, layer, spikes_per_neuron.
    """
    table = filled(rows, ["run", "seed", "network", "layer", "spikes_per_neuron"], "spikes per neuron")
    networks = list(table.network.unique())
    heights = [legend_inches(table.run[table.network == network].nunique()) for network in networks]
    figure, axes = panels(len(networks), 1, PAGE_IN, sum(heights), height_ratios=heights)
    for panel, network in zip(axes.flat, networks, strict=True):
        _draw_spikes(panel, table[table.network == network])
        panel.set(title=network, ylabel="spikes per neuron")
        panel.set_ylim(bottom=0)
    return figure


@styled
def activity_figure(rows: Rows) -> Figure:
    """Share of neurons that fire, layer by timestep; a layer has as many timesteps as levels. Seeds are averaged.

    Columns: activation, timestep (1..L), firing (a share in 0..1).
    """
    table = filled(rows, ["activation", "timestep", "firing"], "activity")
    grid = table.groupby(["activation", "timestep"], sort=False)["firing"].mean().unstack()
    grid = grid.reindex(index=table.activation.unique(), columns=range(1, int(table.timestep.max()) + 1))
    figure, ((axes,),) = panels(1, 1, min(PAGE_IN, 3.6 + 0.2 * grid.shape[1]), 1.1 + 0.16 * len(grid))
    axes.set_facecolor("0.9")
    image = axes.pcolormesh(100 * grid.to_numpy(float), cmap=HEAT, vmin=0, edgecolors="white", linewidth=0.4)
    axes.set_yticks(np.arange(len(grid)) + 0.5, [shorten(layer) for layer in grid.index])
    shown = np.arange(0, grid.shape[1], -(-grid.shape[1] // 16))
    axes.set_xticks(shown + 0.5, shown + 1)
    axes.grid(False)
    axes.invert_yaxis()
    axes.set(xlabel="timestep (light grey: the train has ended)", ylabel="layer")
    figure.colorbar(image, ax=axes, label="neurons firing (%)", shrink=min(1.0, 12 / len(grid)))
    return figure


def _columns(layers: int) -> int:
    """Five to seven panels side by side, as many as leave the fewest places free."""
    return min(layers, min((5, 6, 7), key=lambda columns: (-layers % columns, -columns)))


def _draw_histogram(axes: Axes, layer: str, percent: pd.Series) -> None:
    axes.bar(percent.index, percent, width=0.85, color=PALETTE[0])
    axes.set_title(shorten(layer, 18), fontsize=7, pad=2)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.grid(False, axis="x")


def _draw_spikes(axes: Axes, table: pd.DataFrame) -> None:
    layers, styles = list(table.layer.unique()), looks(list(table.run.unique()))
    summary = over_seeds(table, ["run", "layer"], ["spikes_per_neuron"])
    for number, (run, look) in enumerate(styles.items()):
        part = summary[summary.run == run].set_index("layer").reindex(layers)
        aside = (number - (len(styles) - 1) / 2) * min(0.08, 0.4 / len(styles))  # error bars side by side
        axes.errorbar(
            np.arange(len(layers)) + aside,
            part.spikes_per_neuron,
            part.spikes_per_neuron_std.fillna(0),
            label=run,
            elinewidth=0.8,
            capsize=1.5,
            **look,
        )
    name_layers(axes, layers)
    axes.legend(title="run", **BESIDE)
