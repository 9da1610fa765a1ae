"""Sensitivity: how the comparison of ANN and SNN moves when one assumption moves."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pascal.hardware.bitplanes import bits_of
from pascal.hardware.energy import COMPONENTS
from pascal.hardware.prune import prune_trace
from pascal.hardware.result import ON_CHIP, Simulation
from pascal.hardware.simulate import Variant, make_variant, simulate_variants
from pascal.hardware.sources import make_source
from pascal.hardware.trace import Trace
from pascal.workload import LayerWorkload

WEIGHT_DENSITIES = (1.0, 0.5, 0.25, 0.1, 0.05)


def variations_for(levels: int) -> dict[str, Sequence[Any]]:
    """What may be doubted about `pascal40`, for a network of at most so many levels."""
    return {
        "dram_bit_pj": (3.9, 12.45, 20.0, 40.0),  # HBM; Prosperity; Horowitz, low and high
        "cell": ("lop", "hp", "lstp"),
        "prices": ("synthesis40", "aladdin40"),
        "act_bits": (8, bits_of(levels)),
        "profile": ("ideal", "h1", "nf", "cons"),
        "pes": (16, 64, 256, 1024),
        "overlap": ("blocking", "pipelined"),
        "schedule": ("dynamic", "lpt", "barrier", "barrier_n", "gb"),
        "batch": (1, 16),
        "memory": (True, False),
    }


def sensitivity(
    network: Trace | Iterable[LayerWorkload],
    base: str = "pascal40",
    *,
    variations: Mapping[str, Sequence[Any]] | None = None,
    weight_densities: Sequence[float] = WEIGHT_DENSITIES,
    images: int | None = None,
    seed: int = 0,
    workers: int = 1,
    progress: bool = False,
) -> list[dict[str, Any]]:
    """One row per parameter and value, all others as in `base`; weights of a trace are pruned by magnitude."""
    network = network if isinstance(network, Trace) else tuple(network)
    source = make_source(network, images, seed=seed)
    if variations is None:
        variations = variations_for(max(workload.timesteps for workload in source.workloads))
    settings = [(key, value) for key, values in variations.items() for value in values]
    pairs = [_pair({"base": base, key: value}) for key, value in settings]
    runs = simulate_variants(source, [variant for pair in pairs for variant in pair], workers, progress)
    rows = [_row(*setting, *runs[2 * n : 2 * n + 2]) for n, setting in enumerate(settings)]
    for density in weight_densities:
        pruned = prune_trace(network, density) if isinstance(network, Trace) else network
        source = make_source(pruned, images, density, seed)
        snn, ann = simulate_variants(source, _pair({"base": base}), workers, progress)
        rows.append(_row("weight_density", density, snn, ann))
    return rows


def _pair(block: Mapping[str, Any]) -> list[Variant]:
    return [make_variant("loas", "pasc", block), make_variant("sparten", "qcfs", block)]


def _row(key: str, value: Any, snn: Simulation, ann: Simulation) -> dict[str, Any]:
    scopes = {"compute": ("pe", "neuron"), "on_chip": ON_CHIP, "with_dram": COMPONENTS}
    ratios = {
        f"ann_over_snn_{scope}": float(ann.energy_pj(parts).sum() / snn.energy_pj(parts).sum())
        for scope, parts in scopes.items()
    }
    return {
        "parameter": key,
        "value": value,
        **ratios,
        "snn_uj_per_image": float(snn.energy_pj().mean()) * 1e-6,
        "ann_uj_per_image": float(ann.energy_pj().mean()) * 1e-6,
        "snn_ms_per_image": snn.latency_s * 1e3,
        "ann_ms_per_image": ann.latency_s * 1e3,
        "joint_density": snn.joint_density,
        "pes": snn.accelerator.pes,
        "memory": snn.accelerator.memory,
        "images": snn.images,
        "masks": "synthetic" if snn.synthetic else "recorded",
    }
