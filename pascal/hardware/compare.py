"""The paper's three comparisons, measured beside reported: PASC over plain IF, and the ANN over the SNN."""

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from pascal.accelerators.paper import printed_ratio
from pascal.accelerators.presets import ROOT
from pascal.errors import PascalError
from pascal.hardware.energy import COMPONENTS
from pascal.hardware.intervals import ratio, ratio_interval
from pascal.hardware.result import ON_CHIP, ON_CHIP_DYNAMIC, Simulation
from pascal.hardware.simulate import make_variant, simulate_variants
from pascal.hardware.sources import make_source
from pascal.hardware.trace import Trace, check_trace
from pascal.workload import LayerWorkload

Network = Trace | Iterable[LayerWorkload]

_SCOPES = {
    "PEs and neurons": ("pe", "neuron"),
    "on-chip dynamic": ON_CHIP_DYNAMIC,
    "on-chip with leakage": ON_CHIP,
    "with DRAM": COMPONENTS,
}


def compare_machines(
    pasc: Network,
    plain: Network | None = None,
    preset: str | Mapping[str, Any] = "pascal40",
    *,
    images: int | None = None,
    weight_density: float = 1.0,
    seed: int = 0,
    workers: int = 1,
    progress: bool = False,
) -> tuple[list[dict[str, Any]], dict[str, Simulation]]:
    """Rows of the comparison table, and the simulations behind them.

    `pasc` serves LoAS with PASC and SparTen with QCFS; `plain` is the plain IF network's own trace. Workloads do both.
    """
    if isinstance(pasc, Trace):
        _check_alike(pasc, plain)
    else:
        pasc = tuple(pasc)
    block = {"base": preset} if isinstance(preset, str) else dict(preset)
    block["name"] = preset if isinstance(preset, str) else block.get("name", f"{block.get('base', ROOT)}, modified")
    machines = {
        "pasc blocking": make_variant("loas", "pasc", {**block, "overlap": "blocking"}),
        "pasc pipelined": make_variant("loas", "pasc", {**block, "overlap": "pipelined"}),
        "ann": make_variant("sparten", "qcfs", block),
    }
    source = make_source(pasc, images, weight_density, seed)
    runs = dict(zip(machines, simulate_variants(source, list(machines.values()), workers, progress), strict=True))
    base = make_variant("loas", "if", {**block, "overlap": "blocking"})
    source = make_source(pasc if plain is None else plain, images, weight_density, seed)
    runs["if blocking"] = simulate_variants(source, [base], workers, progress)[0]
    return _rows(runs, seed), runs


def _check_alike(pasc: Trace, plain: Network | None) -> None:
    """The same network and images, or the ratios would compare something else than neurons."""
    if not isinstance(plain, Trace):
        raise PascalError("plain: got no trace of the plain IF network; record one, its silent neurons are others")
    check_trace(plain, pasc.workloads)
    if plain.images != pasc.images:
        raise PascalError(f"plain: got {plain.images} images, the PASC trace has {pasc.images}; rerun stage workload")


def _rows(runs: Mapping[str, Simulation], seed: int) -> list[dict[str, Any]]:
    base, pasc = runs["if blocking"], runs["pasc blocking"]
    reported = printed_ratio("PASC energy mJ", "IF energy mJ")
    rows = [
        _row(f"PASC / IF energy, {scope}", pasc, pasc.energy_pj(parts), base.energy_pj(parts), reported, seed)
        for scope, parts in _SCOPES.items()
    ]
    reported = printed_ratio("PASC latency s", "IF latency s")
    for overlap in ("blocking", "pipelined"):
        run = runs[f"pasc {overlap}"]
        rows.append(_row(f"PASC / IF latency, {overlap}", run, run.cycles, base.cycles, reported, seed))
    ann = runs["ann"]
    for name, snn in (("IF", base), ("PASC", pasc)):
        reported = printed_ratio("ANN energy mJ", f"{name} energy mJ")
        rows += [
            _row(f"ANN / SNN ({name}) energy, {scope}", ann, ann.energy_pj(parts), snn.energy_pj(parts), reported, seed)
            for scope, parts in _SCOPES.items()
        ]
    return rows


def _row(quantity: str, run: Simulation, above: NDArray, below: NDArray, reported: float, seed: int) -> dict[str, Any]:
    low, high = ratio_interval(above, below, seed)
    return {
        "quantity": quantity,
        "measured": float(ratio(above.sum(), below.sum())),
        "low": low,
        "high": high,
        "reported": round(reported, 4),
        "preset": run.accelerator.name,
        "pes": run.accelerator.pes,
        "memory": run.accelerator.memory,
        "joint_density": run.joint_density,
        "masks": "synthetic" if run.synthetic else "recorded",
        "images": run.images,
        "note": run.accelerator.note,
    }
