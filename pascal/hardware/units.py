"""Neuron units: cycles and updates of one output neuron, for the plain IF, the PASC IF and QCFS."""

from dataclasses import dataclass

from pascal.accelerators.accelerator import Accelerator
from pascal.hardware.trace import own_levels
from pascal.workload import LayerWorkload

_FSM_CYCLES = 2  # entering and leaving the serial plain IF unit
# Transistors of a 16-bit unit at L = 4 (Yosys, generic gates): they share out the leakage. QCFS taken as flat PASC.
_TRANSISTORS = {
    ("if", "unrolled"): 4966,
    ("if", "serial"): 1722,
    ("pasc", "serial"): 3216,
    ("pasc", "flat"): 5208,
    ("qcfs", "flat"): 5208,
}


@dataclass(frozen=True)
class UnitCost:
    """Per output neuron: cycles that the unit is busy, and its updates."""

    cycles: int
    membrane_updates: int = 0
    counter_updates: int = 0
    qcfs: int = 0


def unit_cost(accelerator: Accelerator, neuron: str, workload: LayerWorkload) -> UnitCost:
    """Cost of one output neuron, from L_{n−1} (none: pixels) and L_n (none: the layer owns no neurons)."""
    timesteps, levels = workload.producer_levels, own_levels(workload)
    if levels is None:
        return UnitCost(0)
    if neuron == "qcfs":
        return UnitCost(1, qcfs=1)
    if neuron == "if":
        timesteps = timesteps or levels  # the plain network sees the image at every timestep
        return UnitCost(1 if accelerator.if_unit == "unrolled" else timesteps + _FSM_CYCLES, timesteps)
    if timesteps is None and accelerator.image_timesteps == "levels":
        timesteps = levels
    if timesteps is None:
        return _first_layer(accelerator.pasc_unit, levels)
    return _pasc(accelerator.pasc_unit, timesteps, levels)


def _first_layer(unit: str, levels: int) -> UnitCost:
    """Algorithm 2: one evaluation, then L_n emissions; or all levels at once."""
    return UnitCost(1, qcfs=1) if unit == "flat" else UnitCost(1 + levels, 1 + levels)


def _pasc(unit: str, timesteps: int, levels: int) -> UnitCost:
    """Algorithm 1: L_{n−1} integrations, max(L_{n−1}, L_n) − 1 settlements, L_n emissions; or all sums at once."""
    if unit == "flat":
        return UnitCost(1, timesteps, qcfs=1)
    counted = timesteps + max(timesteps, levels) - 1
    return UnitCost(counted + levels, counted + levels, counted)


def unit_leakage_mw(accelerator: Accelerator, neuron: str) -> float:
    """Leakage of one unit, by its transistors relative to the unrolled plain IF."""
    style = {"if": accelerator.if_unit, "pasc": accelerator.pasc_unit, "qcfs": "flat"}[neuron]
    return accelerator.prices.neuron_leakage_mw * _TRANSISTORS[neuron, style] / _TRANSISTORS["if", "unrolled"]
