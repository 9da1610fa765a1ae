"""Events: what the PEs and the neuron units of one layer do for one image, counted exactly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pascal.hardware.lowering import Activations, Filters
from pascal.hardware.units import UnitCost


@dataclass(frozen=True)
class Work:
    """One layer on one machine: what of its events depends on no image."""

    machine: str
    spiking: bool  # a match adds a weight; otherwise it is a MAC: all of SparTen, pixels and graded currents on LoAS
    sums: int  # per output neuron: one per timestep on LoAS
    passes: int  # over the same fibers
    residual_paths: int


def layer_events(
    work: Work, filters: Filters, activations: Activations, matches: NDArray, unit: UnitCost
) -> dict[str, int]:
    """All datapath events of a layer."""
    rows, count, chunks = matches.shape
    outputs = rows * count
    matched = work.passes * int(matches.sum(dtype=np.int64))
    events = {
        "match": matched,
        "buffer_read": matched,
        "bitmask_load": 2 * work.passes * outputs * chunks,
        "membrane_update": unit.membrane_updates * outputs,
        "counter_update": unit.counter_updates * outputs,
        "qcfs": unit.qcfs * outputs,
    }
    if not work.spiking:
        return events | {
            "fast_prefix_sum": matched * (2 if work.machine == "sparten" else 1),
            "multiply": matched,
            "accumulate": matched + work.sums * outputs * (1 + work.residual_paths),
            "dense_mac": work.passes * outputs * filters.columns,
        }
    spikes_on_weights = int((activations.column_spikes * filters.fan_out).sum())
    return events | {
        "pseudo_add": matched,
        "correction_add": work.sums * (matched // work.passes) - spikes_on_weights,
        "fast_prefix_sum": matched,
        "laggy_prefix_sum": work.passes * int(np.count_nonzero(matches)),
        "fifo_entry": matched,
        "bias_add": work.sums * outputs,
        "residual_add": work.sums * outputs * work.residual_paths,
        "spike_add": int(activations.column_spikes.sum()) * (count // filters.groups),
    }
