"""Hardware tables: energy and latency of the simulated machines, and the ratios that the paper draws from them."""

import pandas as pd

from pascal.report.describe import beside, beside_hardware, describe, join, missing_last, reported_numbers
from pascal.report.registry import table
from pascal.report.results import Results, gather, overview
from pascal.report.rows import Rows, frame, over_seeds

_CONDITIONS = ["preset", "machine", "neuron", "overlap", "pes", "memory"]
_PER_IMAGE = ["joint_density", "energy_uj_per_image_without_dram", "energy_uj_per_image", "latency_ms_per_image"]
_PAPER = {  # over the test set, as the paper prints them
    "energy_mj_per_10000": "energy mJ",
    "neuron_energy_mj_per_10000": "neurons' energy mJ",
    "latency_s_per_10000": "latency s",
}
_APART = ("PEs and neurons", "with leakage")  # parts of the others: hardware_comparison.csv of each run has them
_FEWEST = 10  # images from which a bootstrap means something
_NETWORKS = {"qcfs": "ANN", "if": "IF", "pasc": "PASC"}


@table(
    "Energy and latency on the simulated accelerators. Reported numbers are the paper's, of networks of width 1.",
    files=("hardware",),
)
def hardware(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run, machine and neuron."""
    return hardware_table(overview(results), gather(results, "hardware"), audit)


@table(
    "Ratios on the simulated accelerators, on chip and with DRAM. From ten images on, low and high are a 95 % "
    "bootstrap interval. Reported numbers are the paper's, of networks of width 1.",
    files=("hardware_comparison",),
)
def hardware_ratios(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run and ratio."""
    return hardware_ratio_table(overview(results), gather(results, "hardware_comparison"), audit)


def hardware_table(runs: Rows, hardware: Rows, audit: Rows = ()) -> pd.DataFrame:
    """Energy and latency of each machine, per image and, beside the paper's, per 10,000 images, with the conditions.

    Columns of `runs`: those of `overview`; of `hardware`: run, seed and those of `hardware.Simulation.summary`.
    """
    needed = [*_CONDITIONS, *_PER_IMAGE, "energy_mj_per_10000", "latency_s_per_10000", "neuron_pj"]
    table = frame(hardware, ["run", "seed", *needed], "hardware.csv")
    table["neuron_energy_mj_per_10000"] = 1e-5 * pd.to_numeric(table.neuron_pj)  # 10,000 images, 10⁹ pJ in a mJ
    numbers = [*_PER_IMAGE, *_PAPER]
    means = over_seeds(table, ["run", *_CONDITIONS], numbers)
    joined = join(describe(runs, ["hardware"]), [means], [*_CONDITIONS, *numbers])
    reported, names = reported_numbers(audit), joined.neuron.map(_NETWORKS).astype(str)
    for column, quantity in _PAPER.items():
        joined[f"reported_{column}"] = beside(joined, reported, names + " " + quantity)
    return missing_last(joined)


def hardware_ratio_table(runs: Rows, comparison: Rows, audit: Rows = ()) -> pd.DataFrame:
    """PASC over IF and ANN over SNN on the simulated machines, beside the ratios of the paper's figures.

    `low` and `high` bound the ratio over images, averaged over seeds. Columns of `runs`: those of `overview`; of
    `comparison`: run, seed, quantity, measured, low, high, reported, preset, pes, memory, joint_density, masks, images.
    """
    keys = ["quantity", "reported", "preset", "pes", "memory", "masks", "images"]
    numbers = ["measured", "low", "high", "joint_density"]
    table = frame(comparison, ["run", "seed", *keys, *numbers], "hardware comparison")
    table = table[~table.quantity.astype(str).str.contains("|".join(_APART), regex=True)]
    few = pd.to_numeric(table.images) < _FEWEST
    table = table.assign(**{name: table[name].astype(float).mask(few) for name in ("low", "high")})
    means = over_seeds(table, ["run", *keys], numbers).drop(columns=["low_std", "high_std"])
    order = ["quantity", *numbers[:3], "reported", "preset", "pes", "memory", "joint_density", "masks", "images"]
    joined = join(describe(runs, ["hardware"]), [means], order)
    joined["reported"] = beside_hardware(joined, reported_numbers(audit), joined.reported)
    return missing_last(joined)
