"""Neuron units: cycles and updates of one output neuron, for the plain IF, the PASC IF and QCFS."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pascal.errors import PascalError
from pascal.hardware.accelerators import Accelerator
from pascal.hardware.trace import own_levels
from pascal.workload import LayerWorkload

_FSM_CYCLES = 2  # entering and leaving the serial plain IF unit
# Transistors of a 16-bit unit at L = 4 (Yosys, generic gates): they share out the leakage. QCFS taken as flat PASC.
_TRANSISTORS = {
    ("if", "unrolled"): 4966,
    ("if", "serial"): 1722,
    ("pasc", "serial"): 3216,
    ("pasc", "early"): 3226,
    ("pasc", "flat"): 5208,
    ("qcfs", "flat"): 5208,
}


@dataclass(frozen=True, eq=False)
class UnitCost:
    """Per output neuron: cycles that the unit is busy, and its updates. An array where the neurons differ."""

    cycles: int | NDArray
    membrane_updates: int | NDArray = 0
    counter_updates: int | NDArray = 0
    qcfs: int = 0


def unit_cost(
    accelerator: Accelerator, neuron: str, workload: LayerWorkload, settle: NDArray | None = None
) -> UnitCost:
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
    if accelerator.pasc_unit == "early":
        return _early(workload.path, timesteps, settle)
    return _pasc(accelerator.pasc_unit, timesteps, levels)


def _first_layer(unit: str, levels: int) -> UnitCost:
    """Algorithm 2: one evaluation, then L_n emissions, which the decoding units need not do one by one."""
    cycles = 1 + levels if unit == "serial" else 1
    return UnitCost(1, qcfs=1) if unit == "flat" else UnitCost(cycles, cycles)


def _pasc(unit: str, timesteps: int, levels: int) -> UnitCost:
    """Algorithm 1: L_{n−1} integrations, max(L_{n−1}, L_n) − 1 settlements, L_n emissions; or all sums at once."""
    if unit == "flat":
        return UnitCost(1, timesteps, qcfs=1)
    counted = timesteps + max(timesteps, levels) - 1
    return UnitCost(counted + levels, counted + levels, counted)


def _early(path: str, timesteps: int, settle: NDArray | None) -> UnitCost:
    """Algorithm 1 that stops settling when it may; the train is decoded from the count."""
    if settle is None:
        raise PascalError(f"{path}: pasc_unit early needs `settle` in the trace; record it, or choose serial or flat")
    return UnitCost(timesteps + settle, timesteps + settle, timesteps + settle)


def settle_cycles(currents: NDArray, step: int, levels: int) -> NDArray:
    """Cycles of phase 2 that an early-exit unit needs: until 0 ≤ mem < θ*, or until the clipped count cannot change.

    Shape: integer (L_{n−1}, ...) → (...); θ* even.
    """
    membrane = np.full(currents.shape[1:], step // 2, dtype=np.int64)
    count = np.zeros_like(membrane)
    for current in currents:
        membrane += current
        fired = membrane >= step
        count += fired
        membrane -= fired * step
    surplus = membrane // step
    room = np.where(surplus > 0, np.maximum(levels - count, 0), count)
    return np.minimum(np.minimum(np.abs(surplus), room), max(len(currents), levels) - 1)


def unit_leakage_mw(accelerator: Accelerator, neuron: str) -> float:
    """Leakage of one unit, by its transistors relative to the unrolled plain IF."""
    style = {"if": accelerator.if_unit, "pasc": accelerator.pasc_unit, "qcfs": "flat"}[neuron]
    return accelerator.prices.neuron_leakage_mw * _TRANSISTORS[neuron, style] / _TRANSISTORS["if", "unrolled"]
