"""`simulate`: cycles and joules of a network on LoAS or SparTen, from a trace of real images or from random masks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from pascal.accelerators.accelerator import Accelerator, accelerator_from_params
from pascal.errors import PascalError
from pascal.hardware.cycles import count_matches
from pascal.hardware.layer import LayerPlan, layer_cost, plan_layer
from pascal.hardware.lowering import Activations, Filters, Lowering
from pascal.hardware.result import FIELDS, Simulation
from pascal.hardware.sources import Source, make_source
from pascal.hardware.trace import Trace
from pascal.workload import LayerWorkload

_NEURONS = {"loas": ("pasc", "if"), "sparten": ("qcfs",)}  # the first is a machine's own


class Variant(NamedTuple):
    """A machine and the neuron that it runs."""

    accelerator: Accelerator
    neuron: str


def simulate(
    workloads_or_trace: Trace | Iterable[LayerWorkload],
    accelerator: str = "loas",
    neuron: str | None = None,
    preset: str | Mapping[str, Any] | Accelerator = "pascal40",
    *,
    images: int | None = None,
    weight_density: float = 1.0,
    seed: int = 0,
    workers: int = 1,
    progress: bool = False,
) -> Simulation:
    """Simulate one machine: `loas` with `pasc` (or `if`), `sparten` with `qcfs`.

    `preset` is a name, a block `{base: name, key: value, …}` or a record. Workloads carry no spikes, so masks are then
    drawn at their densities with `seed` and `weight_density`, and the result says so.
    """
    variant = make_variant(accelerator, neuron, preset)
    source = make_source(workloads_or_trace, images, weight_density, seed)
    return simulate_variants(source, [variant], workers, progress)[0]


def make_variant(
    machine: str, neuron: str | None, preset: str | Mapping[str, Any] | Accelerator = "pascal40"
) -> Variant:
    """A machine and a neuron that fit each other."""
    record = accelerator_from_params(preset, machine)
    neuron = _NEURONS.get(machine, ("pasc",))[0] if neuron is None else neuron
    if record.machine != machine or neuron not in _NEURONS[record.machine]:
        pairs = ", ".join(f"{m} with {n}" for m, neurons in _NEURONS.items() for n in neurons)
        raise PascalError(f"accelerator {machine!r} with neuron {neuron!r} on {record.name!r}: expected one of {pairs}")
    return Variant(record, neuron)


def simulate_variants(
    source: Source, variants: Sequence[Variant], workers: int = 1, progress: bool = False
) -> list[Simulation]:
    """Simulate several machines on the same images; those that share the masks share the match counts.

    Kernels release Python's lock, so `workers` threads use as many cores.
    """
    if workers < 1:
        raise PascalError(f"workers: got {workers!r}, expected a whole number >= 1")
    for variant in variants:
        source.check_neuron(variant.neuron)
    filters = cache(source.filters)
    plans = [_plan(source, variant, filters) for variant in variants]
    values = [np.zeros((source.images, len(plan), len(FIELDS))) for plan in plans]

    def run(image: int) -> None:
        for variant, array in enumerate(_image_costs(source, plans, image)):
            values[variant][image] = array

    with ThreadPoolExecutor(workers) as pool, tqdm(total=source.images, unit="image", disable=not progress) as bar:
        for _ in pool.map(run, range(source.images)):
            bar.update()
    return [
        Simulation(variant.accelerator, variant.neuron, tuple(plan[n].workload for n in plan), source.synthetic, array)
        for variant, plan, array in zip(variants, plans, values, strict=True)
    ]


def _plan(source: Source, variant: Variant, filters: Callable[[int, Lowering], Filters]) -> dict[int, LayerPlan]:
    """Plans of the layers that the machine runs, by number."""
    accelerator = variant.accelerator
    held = accelerator.timesteps or max(workload.timesteps for workload in source.workloads)
    plans = {}
    for number, workload in enumerate(source.workloads):
        if workload.is_input and accelerator.first_layer == "skip":
            continue
        own = filters(number, Lowering.of(accelerator))
        plans[number] = plan_layer(workload, accelerator, variant.neuron, own, held)
    return plans


def _image_costs(source: Source, plans: Sequence[Mapping[int, LayerPlan]], image: int) -> list[NDArray]:
    rows: list[list[list[float]]] = [[] for _ in plans]
    for number in range(len(source.workloads)):
        counted: dict[Lowering, tuple[Activations, NDArray]] = {}
        for variant, plan in enumerate(plans):
            if number not in plan:
                continue
            lowering = Lowering.of(plan[number].accelerator)
            if lowering not in counted:
                activations = source.activations(number, image, lowering)
                counted[lowering] = activations, count_matches(activations.masks, plan[number].filters.masks)
            cost = layer_cost(plan[number], *counted[lowering])
            rows[variant].append([cost.get(field, 0.0) for field in FIELDS])
    return [np.asarray(row).reshape(-1, len(FIELDS)) for row in rows]
