"""The rows that the figures over runs and over seeds draw, from the files of the runs."""

from collections.abc import Sequence

import pandas as pd

from pascal.report.results import RunResults, gather, overview
from pascal.report.rows import frame

Results = Sequence[RunResults]


def curve_rows(results: Results) -> pd.DataFrame:
    """Accuracy of plain IF over timesteps, in one panel per dataset and network."""
    return _with_panel(results, gather(results, "accuracy_vs_timesteps"))


def point_rows(results: Results) -> pd.DataFrame:
    """PASC's own accuracy and effective timesteps, in the same panels."""
    return _with_panel(results, overview(results)[["run", "seed", "t_eff", "snn_accuracy"]])


def timestep_cost_rows(results: Results) -> pd.DataFrame:
    """Accuracy against T_eff, in one panel per dataset."""
    runs = overview(results)
    return runs.assign(panel=runs.dataset, cost=runs.t_eff, accuracy=runs.snn_accuracy)


def energy_cost_rows(results: Results) -> pd.DataFrame:
    """Accuracy against µJ of the PASC network, in one panel per dataset and arithmetic.

    A run without energy appears without a cost, so that the figure can name it.
    """
    energy = frame(gather(results, "energy"), ["costs", "network", "total_pj"], "energy.csv")
    pasc = energy[energy.network == "SNN PASC"].groupby(["run", "seed", "costs"], sort=False)["total_pj"].sum() / 1e6
    runs = overview(results)[["run", "seed", "dataset", "snn_accuracy"]]
    table = runs.merge(pasc.rename("cost").reset_index(), on=["run", "seed"], how="left")
    return table.assign(panel=table.dataset + ", " + table.costs, accuracy=table.snn_accuracy)


def spike_rows(results: Results) -> pd.DataFrame:
    """Spikes per neuron of each activation, from the layer that owns its neurons."""
    networks = {result.run: result.network for result in results}
    table = frame(gather(results, "workload"), ["activation", "neurons", "spikes_per_neuron"], "workload.csv")
    owners = table[(table.activation != "") & table.spikes_per_neuron.notna() & (table.neurons > 0)]
    return owners.assign(network=owners.run.map(networks), layer=owners.activation)


def metric_rows(runs: Results) -> pd.DataFrame:
    """The metric of each layer and the level it got, for each seed that has both."""
    table = frame(gather(runs, "metric"), ["layer", "metric"], "metric.csv")
    levels = {(run.seed, layer): level for run in runs for layer, level in (run.levels or {}).items()}
    table["level"] = [levels.get(key) for key in zip(table.seed, table.layer, strict=True)]
    return table.dropna(subset="level").astype({"level": int})


def machine_rows(runs: Results) -> pd.DataFrame:
    """Energy of each machine by component, one bar per machine, neuron and overlap."""
    table = frame(gather(runs, "hardware"), ["preset", "machine", "neuron", "overlap"], "hardware.csv")
    return table.assign(bar=table.machine + ", " + table.neuron + ", " + table.overlap)


def _with_panel(results: Results, table: pd.DataFrame) -> pd.DataFrame:
    panels = {result.run: f"{result.dataset}, {result.network}" for result in results}
    return table.assign(panel=table.run.map(panels))
