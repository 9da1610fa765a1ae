"""Energy tables: the paper's formula and exact operations, all networks compared, PASC's overhead."""

import pandas as pd

from pascal.report.describe import beside, beside_hardware, describe, join, missing_last, reported_numbers
from pascal.report.registry import table
from pascal.report.results import Results, gather, overview
from pascal.report.rows import Rows, frame, over_seeds

_PAPER, _EXACT, _OVERHEAD = "ann_snn_ratio_paper_", "ann_snn_ratio_exact_", "energy_ratio_"
_FORMULA = "r_E, formula, SpikeRate 0.75"
_INPUTS = {"spikes_per_neuron": "b_paper", "synaptic_operations_per_mac": "b_exact", "first_layer_share": "c"}
_NUMBERS = [*_INPUTS.values(), "ratio_paper", "ratio_exact"]


@table(
    "Energy of the ANN over that of the SNN by the paper's formula and by exact operations. b is additions of the SNN "
    "per MAC of the ANN: the paper's mean spikes per neuron, or synaptic operations as counted; c is the share of MACs "
    "in layers that read pixels and multiply in both. Reported numbers are the paper's, of networks of width 1."
)
def energy(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run and arithmetic."""
    return energy_table(overview(results), audit)


@table(
    "Energy per image of both SNNs, and of the ANN as it is, skipping zeros, and with low-bit activations.",
    files=("energy",),
)
def energy_networks(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run, arithmetic and network."""
    return energy_networks_table(overview(results), gather(results, "energy"))


@table(
    "Cost of PASC over plain IF: the paper's formula, operations counted, simulated hardware. Reported numbers are the "
    "paper's, of networks of width 1.",
    files=("hardware_comparison",),
)
def overhead(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run and way of counting."""
    return overhead_table(overview(results), gather(results, "hardware_comparison"), audit)


def energy_table(runs: Rows, audit: Rows = ()) -> pd.DataFrame:
    """Energy_ANN/Energy_SNN of each run and arithmetic: the paper's formula, exact operations, and what is reported.

    Columns of `runs`: those of `overview` with the energy summary. b is ACs per MAC, c the first layer's share.
    """
    table = frame(runs, ["run", "seed"], "runs").rename(columns=_INPUTS)
    parts = [_ann_over_snn(table, name.removeprefix(_PAPER)) for name in table if name.startswith(_PAPER)]
    joined = join(describe(runs, ["energy_summary"]), parts, ["costs", *_NUMBERS])
    quantities = "Energy_ANN/Energy_SNN " + joined.costs.astype(str).str.upper()
    joined["reported_ratio"] = beside(joined, reported_numbers(audit), quantities)
    return missing_last(joined)


def energy_networks_table(runs: Rows, energy: Rows) -> pd.DataFrame:
    """Energy per image of both SNNs and of the ANN in each of its guises, arithmetic and memory apart.

    Columns of `runs`: those of `overview`; of `energy`: run, seed and those of `energy.energy_rows`.
    """
    table = frame(energy, ["run", "seed", "costs", "network", "memory_pj", "total_pj"], "energy.csv")
    keys, columns = ["run", "costs", "network"], ["arithmetic_uj", "memory_uj", "total_uj"]
    sums = table.groupby([*keys, "seed"], sort=False)[["memory_pj", "total_pj"]].sum().astype(float).reset_index()
    sums["memory_uj"], sums["total_uj"] = sums.memory_pj / 1e6, sums.total_pj / 1e6
    sums["arithmetic_uj"] = sums.total_uj - sums.memory_uj
    means = over_seeds(sums, keys, columns)
    pasc = means[means.network == "SNN PASC"].set_index(["run", "costs"])["total_uj"]
    means["relative_to_pasc"] = means.total_uj / means.set_index(["run", "costs"]).index.map(pasc)
    left = describe(runs, ["energy"])[["run", "dataset", "levels", "seeds", "missing"]]
    return missing_last(join(left, [means], ["costs", "network", *columns, "relative_to_pasc"]))


def overhead_table(runs: Rows, comparison: Rows = (), audit: Rows = ()) -> pd.DataFrame:
    """PASC over plain IF: r_E by the paper's formula, by operations counted, and on the simulated hardware.

    Columns of `runs`: those of `overview` with the energy summary; of `comparison`: run, seed, quantity, measured,
    reported, as `hardware.compare_machines` gives them.
    """
    table = frame(runs, ["run", "seed"], "runs")
    machines = frame(comparison, ["run", "seed", "quantity", "measured", "reported"], "hardware comparison")
    machines = machines[machines.quantity.astype(str).str.startswith("PASC / IF")].rename(columns={"measured": "ratio"})
    analytic = [_ratio_of(table, name) for name in table if name.startswith(_OVERHEAD)]
    measured = over_seeds(machines, ["run", "quantity"], ["ratio"])
    joined = join(describe(runs, ["energy_summary", "hardware"]), [*analytic, measured], ["quantity", "ratio"])
    reported = reported_numbers(audit)
    printed = beside(joined, reported, joined.quantity.replace(_FORMULA, "network r_E").astype(str))
    by_quantity = machines.drop_duplicates("quantity").set_index("quantity")["reported"]
    simulated = beside_hardware(joined, reported, joined.quantity.map(by_quantity))
    joined["reported_ratio"] = [text or other for text, other in zip(printed, simulated, strict=True)]
    return missing_last(joined)


def _ann_over_snn(table: pd.DataFrame, costs: str) -> pd.DataFrame:
    renamed = table.rename(columns={_PAPER + costs: "ratio_paper", _EXACT + costs: "ratio_exact"})
    means = over_seeds(frame(renamed, _NUMBERS, "energy summary"), ["run"], _NUMBERS)
    return means.dropna(subset="ratio_paper").assign(costs=costs)


def _ratio_of(table: pd.DataFrame, name: str) -> pd.DataFrame:
    kind = name.removeprefix(_OVERHEAD)
    means = over_seeds(table.rename(columns={name: "ratio"}), ["run"], ["ratio"]).dropna(subset="ratio")
    return means.assign(quantity=_FORMULA if kind == "formula" else f"r_E, operations counted, {kind}")
