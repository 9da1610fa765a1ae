"""Tables with one row per layer: operations as in the appendix, and PASC's overhead."""

import pandas as pd

from pascal.report.describe import beside, describe, join, missing_last, reported_numbers
from pascal.report.registry import table
from pascal.report.results import Results, gather, overview
from pascal.report.rows import Rows, frame, over_seeds

_SHAPES = ["kind", "input_shape", "output_shape", "kernel", "macs", "fan_in", "levels"]
_MEASURED = ["synaptic_operations", "nonzero_macs", "spikes_per_neuron"]
_RATIOS = ["spikes_per_neuron", "operation_ratio", "energy_ratio", "energy_ratio_counted"]


@table("Operations of each layer per image. Reported numbers are the paper's, of networks of width 1.")
def operations(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run and layer, and the sum."""
    return operations_table(overview(results), gather(results, "workload"), audit)


@table("Cost of PASC over plain IF in each layer.", files=("ratios",))
def overhead_layers(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run and activation."""
    return layer_overhead_table(overview(results), gather(results, "ratios"))


def operations_table(runs: Rows, workload: Rows, audit: Rows = ()) -> pd.DataFrame:
    """Shapes, MACs and measured operations of each layer, per image, and each run's total beside the paper's.

    Columns of `runs`: those of `overview`; of `workload`: run, seed and those of `workload_row`.
    """
    table = frame(workload, ["run", "seed", "path", *_SHAPES, *_MEASURED], "workload.csv")
    table["levels"] = pd.to_numeric(table.levels, errors="coerce")  # of one layer, where `overview` has all in a text
    keys = ["run", "path"]
    layers = table.groupby(keys, sort=False)[_SHAPES].agg(_same).reset_index()
    layers = layers.merge(over_seeds(table, keys, _MEASURED), on=keys)
    sums = layers.groupby("run", sort=False)[["macs", *_MEASURED[:2]]].sum().reset_index()
    rows = pd.concat([layers, sums.assign(path="total")]).rename(columns={"levels": "level"})
    left = describe(runs, ["workload"])
    joined = join(left, [rows], ["path", *[name for name in rows if name not in keys and not name.endswith("_std")]])
    reported = beside(joined.assign(levels=""), reported_numbers(audit), joined.path.map(_total_macs))
    joined["reported_macs"] = pd.to_numeric(pd.Series(reported, index=joined.index, dtype=object), errors="coerce")
    return missing_last(joined.drop(columns=["width", "seeds", "levels"]))


def layer_overhead_table(runs: Rows, ratios: Rows) -> pd.DataFrame:
    """L_{n−1}, L_n, fan-in, r' and r_E of each activation, by the paper's formula and with operations counted.

    Columns of `runs`: those of `overview`; of `ratios`: run, seed and those of `energy.ratio_table`.
    """
    keys = ["run", "activation", "timesteps", "levels", "fan_in"]
    table = frame(ratios, ["run", "seed", *keys[1:], *_RATIOS], "ratios").rename(columns={"levels": "level"})
    means = over_seeds(table, [name.replace("levels", "level") for name in keys], _RATIOS)
    left = describe(runs, ["energy_summary"])[["run", "dataset", "network", "missing"]]
    return missing_last(join(left, [means], ["activation", "timesteps", "level", "fan_in", *_RATIOS]))


def _same(cells: pd.Series) -> object:
    """What all seeds share; an adaptive run's levels may differ between seeds."""
    known = list(dict.fromkeys(cells.dropna()))
    return known[0] if len(known) == 1 else " or ".join(map(_whole, sorted(known))) if known else None


def _whole(cell: object) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _total_macs(path: object) -> str:
    return "MACs" if path == "total" else ""
