"""Full-width VGG-16 on LoAS and SparTen with random masks: what the model gives beside what is expected of it.

`python -m benchmarks.studies.hardware_tables benchmarks/studies` writes
`hardware_{targets,comparison,sensitivity}.csv`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.networks import vgg16_workloads
from benchmarks.studies import hardware_loas as loas
from pascal.accelerators.paper import PRINTED
from pascal.accelerators.presets import PRESETS
from pascal.accelerators.prices import CACTI, PRICE_SETS
from pascal.audit.claims import ENERGY_RATIOS
from pascal.energy import FP32, INT8, ann_snn_ratio
from pascal.hardware import accelerator_from_params, compare_machines, sensitivity
from pascal.hardware.energy import dynamic_pj
from pascal.hardware.simulate import make_variant, simulate_variants
from pascal.hardware.sources import make_source

DENSITIES = ((0.25, 1.0), (0.24, 0.24), (0.25, 0.05))  # activations × weights
DRAWN = "masks drawn at the published densities of each layer; where the spikes lie is not published"
LOAS, PAPER, PROTOTYPE = "LoAS's logs and scripts", "the paper", "a first prototype of this model"
COUNTED = "constants of loas32_script on the published cycles, matches and bytes"


def per_match_energies() -> Iterator[dict[str, Any]]:
    """LoAS's flat energies per match against the sum of their events."""
    sparten = {"fast_prefix_sum": 2, "buffer_read": 1, "accumulate": 1}
    tppe = {"pseudo_add": 1, "correction_add": 4, "laggy_prefix_sum": 1, "fifo_entry": 1, "buffer_read": 1}
    machines = {
        "TPPE": (tppe | {"fast_prefix_sum": 1, "bitmask_load": 2}, 5.80),
        "SparTen-SNN": (sparten, 6.15),
        "SparTen-ANN": (sparten | {"multiply": 1, "bitmask_load": 2}, 7.95),
    }
    for name, (events, flat_pj) in machines.items():
        yield _target(f"{name} pJ per match", flat_pj, dynamic_pj(events, PRICE_SETS["synthesis32"])["pe"], 0.02, LOAS)


def latency_ratios() -> Iterator[dict[str, Any]]:
    """PASC over a blocking 1-cycle IF; `algorithm 2` charges the first layer one evaluation and L emissions."""
    expected = {(0.25, 1.0): (1.030, 0.997), (0.24, 0.24): (1.093, 0.993), (0.25, 0.05): (1.202, 1.008)}
    for (activations, weights), ratios in expected.items():
        source = make_source(vgg16_workloads(activations), 1, weights)
        for image in ("levels", "one"):
            block = {"image_timesteps": image, "memory": False}
            overlaps = [{**block, "overlap": overlap} for overlap in ("blocking", "pipelined")]
            variants = [make_variant("loas", "if", block), *(make_variant("loas", "pasc", own) for own in overlaps)]
            base, *runs = (run.cycles.mean() for run in simulate_variants(source, variants))
            for overlap, cycles, ratio in zip(("blocking", "pipelined"), runs, ratios, strict=True):
                name = f"PASC/IF latency {activations} x {weights}, {overlap}"
                if image == "levels":
                    yield _target(name, ratio, cycles / base, 0.02, PROTOTYPE)
                else:
                    yield _target(f"{name}, algorithm 2", None, cycles / base)


def h1_latencies() -> Iterator[dict[str, Any]]:
    """Seconds per 10,000 images with the matches that the paper's ANN energy implies."""
    workloads = vgg16_workloads(0.24)
    match_pj = PRESETS["h1"]["sparten"]["match_pj"]
    matches = float(PRINTED["ANN energy mJ"]) * 1e-3 / (match_pj * 1e-12) / 1e4
    density = matches / (sum(workload.nonzero_macs or 0 for workload in workloads) + workloads[0].macs)
    source = make_source(workloads, 3, density)
    runs = simulate_variants(source, [make_variant("loas", neuron, "h1") for neuron in ("if", "pasc")])
    for run, expected in zip(runs, (0.404, 0.454), strict=True):
        yield _target(f"h1 latency, {run.neuron}, s", expected, run.latency_s * 1e4, 0.02 * expected, PROTOTYPE)


def constants() -> Iterator[dict[str, Any]]:
    """CACTI figures and the paper's operation counting."""
    read_pj, write_pj, leakage_mw = CACTI[32, "lop"]
    yield _target("CACTI 256 KB 32 nm read pJ", 64.8472, read_pj, 0, "CACTI 7")
    yield _target("CACTI 256 KB 32 nm write pJ", 71.2, write_pj, 0, "CACTI 7")
    yield _target("CACTI 256 KB 32 nm leakage mW per bank", 7.77766, leakage_mw / 16, 1e-12, "CACTI 7")
    dram = accelerator_from_params("pascal40").dram_bytes_per_cycle
    yield _target("DRAM bytes per cycle", 228.6, dram, 0.05, "128 GB/s at 560 MHz")
    for claim in ENERGY_RATIOS:
        operations, share = claim.inputs
        name, costs = {"FP32": ("horowitz45_fp32", FP32), "INT8": ("horowitz45", INT8)}[claim.quantity.split()[-1]]
        target = f"ANN/SNN by operations, b={operations} c={share}, {name}"
        yield _target(target, float(claim.printed), ann_snn_ratio(operations, share, costs), 0.01, PAPER)


def loas_published() -> Iterator[dict[str, Any]]:
    """LoAS's own figures: its densities, its cycles with random masks of those, its energies from its own counts."""
    silent = {"vgg16": 79.581, "resnet19": 66.0811, "alexnet": 76.6834}
    zeros = {"vgg16": 98.2279, "resnet19": 96.914, "alexnet": 98.2635}
    for network in loas.NETWORKS:
        own, (words, weights) = loas.LAYERS[loas.LAYERS.network == network], loas.zero_shares(network)
        yield _target(f"LoAS {network} FT silent words, %", silent[network], words, 5e-5, LOAS)
        yield _target(f"LoAS {network} zero weights, %", zeros[network], weights, 5e-5, LOAS)
        runs = list(loas.drawn_layers(network))
        for name, field in (("cycles", "compute_cycles"), ("matches", "match")):
            logged, measured = int(own[name].sum()), sum(run.mean(field) for run in runs)
            yield _target(f"LoAS {network} FT {name}, loas32", logged, measured, 0.1 * logged, LOAS, DRAWN)
    cycles = 4 * sum(run.mean("compute_cycles") for run in loas.drawn_layers("vgg16", "sparten"))
    logged = loas.SPARTEN_SNN.cycles
    note = "masks drawn at the densities that its own matches imply, one timestep four times"
    yield _target("SparTen-SNN vgg16 cycles", logged, cycles, 0.3 * logged, LOAS, note)
    snn = loas.script_energy("loas", loas.LOAS_FT)
    gain = loas.script_energy("sparten", loas.SPARTEN_SNN, match_pj=6.15) / snn
    yield _target("LoAS-FT energy gain over SparTen-SNN, vgg16", 3.17, gain, 0.05 * 3.17, LOAS, COUNTED)
    ratio = loas.script_energy("sparten", loas.SPARTEN_ANN) / snn
    yield _target("SparTen-ANN over LoAS-FT energy, vgg16", 2.47, ratio, 0.15 * 2.47, LOAS, COUNTED)


def still_open() -> Iterator[dict[str, Any]]:
    """Targets that nothing here meets, with the reason."""
    for name in ("GoSPA-SNN", "Gamma-SNN"):
        yield _target(f"{name} speed-up over SparTen-SNN", None, None, note="machine not modelled")
    fast, slow = (
        sum(run.mean("compute_cycles") for run in loas.drawn_layers("vgg16", name)) for name in ("loas", "sparten")
    )
    note = "a trend: random filters are alike, so that SparTen waits less for the densest of 16"
    yield _target("LoAS-FT speed-up over SparTen-SNN, vgg16", 5.02, 4 * slow / fast, None, LOAS, note)


def _target(
    name: str,
    expected: float | None,
    measured: float | None,
    tolerance: float | None = None,
    source: str = "",
    note: str = "",
) -> dict[str, Any]:
    """One number of the model beside the one that `source` gives for it."""
    met = None
    if expected is not None and measured is not None and tolerance is not None:
        met = abs(measured - expected) <= tolerance
    numbers = {"expected": expected, "measured": measured, "tolerance": tolerance, "met": met}
    return {"target": name, **numbers, "source": source, "note": note}


def main(folder: str) -> None:
    """Write the three tables."""
    parts = (per_match_energies, h1_latencies, latency_ratios, constants, loas_published, still_open)
    targets = pd.DataFrame([row for part in parts for row in part()])
    comparison = []
    for preset in ("pascal40", "h1"):
        for activations, weights in DENSITIES:
            rows, _ = compare_machines(vgg16_workloads(activations), preset=preset, weight_density=weights, images=3)
            comparison += [{"activations": activations, "weights": weights, **row} for row in rows]
    tables = {"targets": targets, "comparison": pd.DataFrame(comparison)}
    tables["sensitivity"] = pd.DataFrame(sensitivity(vgg16_workloads(0.25), progress=True))
    for name, table in tables.items():
        print(table.to_string(index=False))
        table.to_csv(Path(folder) / f"hardware_{name}.csv", index=False, float_format="%.6g")


if __name__ == "__main__":
    main(sys.argv[1])
