"""One layer on one machine: the plan that all images share, and the cost of one image."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pascal.accelerators.accelerator import Accelerator
from pascal.hardware.energy import dynamic_pj, static_pj
from pascal.hardware.events import Work, layer_events
from pascal.hardware.lowering import Activations, Filters
from pascal.hardware.memory import NO_TRAFFIC, MemoryPlan, Traffic, plan_memory, traffic
from pascal.hardware.schedule import Schedule, schedule_layer
from pascal.hardware.tiling import Tiling, tile_layer
from pascal.hardware.trace import own_levels, reads_spikes
from pascal.hardware.units import unit_cost
from pascal.workload import LayerWorkload

_PIXEL_BITS = 8  # and of a graded current
_SUM_BITS = 24  # of an output that no neuron follows


@dataclass(frozen=True, eq=False)
class LayerPlan:
    """What the simulation of a layer needs besides the image."""

    workload: LayerWorkload
    accelerator: Accelerator
    neuron: str
    filters: Filters
    tiling: Tiling
    memory: MemoryPlan | None
    work: Work


def plan_layer(
    workload: LayerWorkload, accelerator: Accelerator, neuron: str, filters: Filters, held_timesteps: int
) -> LayerPlan:
    """Tile the layer and walk its tiles; `held_timesteps` is T_hw."""
    rows = int(np.prod(workload.output_shape[1:]))
    tiling = tile_layer(accelerator, rows, filters)
    memory = plan_memory(accelerator, tiling, filters) if accelerator.memory else None
    return LayerPlan(
        workload, accelerator, neuron, filters, tiling, memory, _work(workload, accelerator, held_timesteps)
    )


def _work(workload: LayerWorkload, accelerator: Accelerator, held_timesteps: int) -> Work:
    """LoAS holds some timesteps per pass and multiplies graded currents one timestep at a time; SparTen sums once."""
    paths = workload.additions // workload.neurons if workload.neurons else 0
    if accelerator.machine == "sparten":
        return Work("sparten", False, 1, 1, paths)
    spiking, sums = reads_spikes(workload), workload.timesteps
    return Work("loas", spiking, sums, -(-sums // held_timesteps) if spiking else sums, paths)


def layer_cost(plan: LayerPlan, activations: Activations, matches: NDArray) -> dict[str, float]:
    """Events, cycles, and pJ by component, of one image."""
    accelerator, work = plan.accelerator, plan.work
    unit = unit_cost(accelerator, plan.neuron, plan.workload)
    unit_cycles = np.broadcast_to(np.int64(unit.cycles), matches.shape[:2])
    schedule = schedule_layer(accelerator, plan.tiling, matches, work.passes, work.residual_paths, unit_cycles)
    events: dict[str, float] = dict(layer_events(work, plan.filters, activations, matches, unit))
    moved = _traffic(plan, activations, schedule, int(events["match"]), matches.shape[0] * matches.shape[1])
    events["sram_read_byte"] = moved.sram_read_bits / 8
    events["sram_write_byte"] = moved.sram_write_bits / 8
    events["dram_bit"] = moved.dram_read_bits + moved.dram_write_bits
    cycles = {
        "compute_cycles": schedule.compute_cycles,
        "neuron_cycles": schedule.neuron_cycles,
        "stall_cycles": moved.stall_cycles,
        "busy_cycles": schedule.busy_cycles,
    }
    energy = dynamic_pj(events, accelerator.prices)
    energy["static"] = static_pj(accelerator, plan.neuron, schedule.cycles + moved.stall_cycles)
    return events | cycles | {f"{component}_pj": value for component, value in energy.items()}


def _traffic(plan: LayerPlan, activations: Activations, schedule: Schedule, matched: int, outputs: int) -> Traffic:
    if plan.memory is None or schedule.tile_cycles is None:
        return NO_TRAFFIC
    workload, work = plan.workload, plan.work
    words = matched + work.passes * work.residual_paths * outputs
    return traffic(
        plan.accelerator,
        plan.memory,
        activations,
        schedule.tile_cycles,
        words,
        _word_bits(plan.accelerator, workload.producer_levels if reads_spikes(workload) else None, work.passes),
        _written_bits(plan, activations.active_outputs, outputs),
        work.passes,
    )


def _word_bits(accelerator: Accelerator, levels: int | None, passes: int = 1) -> int:
    """Bits of one input: a pixel or a graded current, a packed train (one pass's share), or an ANN's activation."""
    if levels is None:
        return _PIXEL_BITS
    return accelerator.act_bits if accelerator.machine == "sparten" else -(-levels // passes)


def _written_bits(plan: LayerPlan, active_outputs: float, outputs: int) -> float:
    """Bitmask and non-silent words of the output map; LoAS's scripts count its im2col matrix."""
    workload, accelerator = plan.workload, plan.accelerator
    levels = own_levels(workload)
    if levels is None:
        return outputs * _SUM_BITS
    copies = int(np.prod(workload.kernel)) if accelerator.writeback == "im2col" else 1
    return copies * (outputs + active_outputs * _word_bits(accelerator, levels))
