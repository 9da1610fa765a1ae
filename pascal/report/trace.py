"""One PASC neuron followed through Algorithm 1, step by step, for the figure that explains it. No torch."""

from collections.abc import Sequence
from typing import Any

from pascal.errors import PascalError

# Excited early, inhibited late: phase 1 counts two spikes, phase 2 takes one back, QCFS says one.
EXAMPLE_CURRENTS = (1.625, 1.375, -1.875, 0.25)

Row = dict[str, Any]


def trace_pasc(currents: Sequence[float], step: float, levels: int) -> list[Row]:
    """Algorithm 1 as rows `phase, timestep, current, before, membrane, spike, count`.

    `before` is the membrane when it is compared with θ*, `membrane` what the reset leaves; `timestep` counts from 1
    within its phase; `count` is s/θ* in phases 1 and 2 and the spikes emitted so far in phase 3.
    """
    _check(currents, step, levels)
    rows = _integrate(currents, step)
    rows += _settle(rows[-1]["membrane"], rows[-1]["count"], step, max(len(currents), levels) - 1)
    return rows + _emit(rows[-1]["count"], step, levels)


def _integrate(currents: Sequence[float], step: float) -> list[Row]:
    """Lines 3–10: mem(0) = θ*/2; mem(t) = mem(t−1) + X[t]; at mem ≥ θ* count a spike and subtract θ*."""
    rows, membrane, count = [], step / 2, 0
    for timestep, current in enumerate(currents, 1):
        before = membrane + current
        spike = int(before >= step)
        membrane, count = before - spike * step, count + spike
        rows.append(_row("integrate", timestep, before, membrane, spike, count, current))
    return rows


def _settle(membrane: float, count: int, step: float, timesteps: int) -> list[Row]:
    """Lines 11–20: at mem ≥ θ* count up and subtract θ*; at mem < 0 count down and add θ*."""
    rows = []
    for timestep in range(1, timesteps + 1):
        before = membrane
        spike = int(before >= step) - int(before < 0)
        membrane, count = before - spike * step, count + spike
        rows.append(_row("settle", timestep, before, membrane, spike, count))
    return rows


def _emit(count: int, step: float, levels: int) -> list[Row]:
    """Lines 21–26: a new neuron with mem(0) = s fires while mem ≥ θ*; counted in steps, so nothing is rounded."""
    rows: list[Row] = []
    for timestep in range(1, levels + 1):
        spike = int(count >= 1)
        emitted = spike + (rows[-1]["count"] if rows else 0)
        rows.append(_row("emit", timestep, count * step, (count - spike) * step, spike, emitted))
        count -= spike
    return rows


def _row(
    phase: str, timestep: int, before: float, membrane: float, spike: int, count: int, current: float | None = None
) -> Row:
    return {
        "phase": phase,
        "timestep": timestep,
        "current": current,
        "before": before,
        "membrane": membrane,
        "spike": spike,
        "count": count,
    }


def _check(currents: Sequence[float], step: float, levels: int) -> None:
    if len(currents) == 0:
        raise PascalError("currents: got 0 timesteps, expected at least 1")
    if not step > 0:
        raise PascalError(f"step: got {step}, expected a positive number")
    if levels < 1:
        raise PascalError(f"levels: got {levels}, expected a whole number >= 1")
