"""A row of the comparison: one answer of one method, with its six numbers and its energy."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from pascal.baselines.accounting import Tally
from pascal.baselines.method import Method
from pascal.energy import EnergyCosts
from pascal.workload import LayerWorkload


@dataclass(frozen=True)
class Row:
    """One answer of one method. Operations, synapses and energy are means over the images."""

    method: str
    label: str
    answer: str = ""
    paper: str = ""
    chosen: bool = False
    exact: bool = False
    images: int = 0
    accuracy: float | None = None
    agreement: float | None = None
    mismatches: float | None = None  # share of the neurons that do not stand for the ANN's level
    first_mismatch: str | None = None
    timesteps: float | None = None  # T_alg
    total_timesteps: float | None = None  # T_tot
    sequential_timesteps: float | None = None  # S_seq
    wavefront_timesteps: float | None = None  # S_seq where handing on takes a timestep
    synaptic_operations: float | None = None
    neuron_operations: float | None = None
    buffer_bits: float | None = None  # of a neuron, mean
    seconds: float | None = None  # of an image, in this implementation
    memory_bytes: int | None = None  # the largest that a portion of a batch needed, in this implementation
    pooling: str = ""
    inexact_pooling: int = 0  # maxima taken timestep by timestep
    energy_pj: Mapping[str, float] = field(default_factory=dict)  # by cost table
    problem: str = ""  # why there are no numbers


def row_of(method: Method, tally: Tally, workloads: Sequence[LayerWorkload], costs: Mapping[str, EnergyCosts]) -> Row:
    """Energy is that of the first layer's MACs, of synaptic and of neuron operations."""
    timesteps, answer = tally.timesteps, tally.answer
    neurons = [(layer.neurons, layer.levels) for layer in workloads if layer.neurons and layer.levels]
    operations = sum(number * method.neuron_operations(levels, timesteps) for number, levels in neurons)
    buffers = sum(number * method.buffer_bits(levels, timesteps) for number, levels in neurons)
    synapses = tally.synapses / tally.images
    pixels = sum(layer.macs for layer in workloads if layer.is_input)
    prices = {name: pixels * cost.mac_pj() + (synapses + operations) * cost.add_pj for name, cost in costs.items()}
    return Row(
        method=method.name,
        label=method.label,
        answer=answer.label,
        paper=method.paper,
        chosen=answer.chosen,
        exact=method.exact and answer.chosen,
        images=tally.images,
        accuracy=tally.right / tally.labelled if tally.labelled else None,
        agreement=tally.agreeing / tally.images,
        mismatches=tally.mismatches(),
        first_mismatch=tally.first_mismatch(),
        timesteps=timesteps,
        total_timesteps=method.total_timesteps(timesteps),
        sequential_timesteps=method.sequential_timesteps(timesteps),
        wavefront_timesteps=method.wavefront_timesteps(timesteps),
        synaptic_operations=synapses,
        neuron_operations=operations,
        buffer_bits=buffers / sum(number for number, _ in neurons),
        seconds=tally.seconds / tally.images,
        memory_bytes=tally.memory or None,
        pooling=method.network.pooling,
        inexact_pooling=len(method.network.inexact),
        energy_pj=prices,
    )


def failed(method: type[Method], problem: str) -> Row:
    """The row of a method without numbers."""
    return Row(method.name, getattr(method, "label", method.name), paper=method.paper, problem=problem)


def table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows for a CSV file: a column for each cost table, empty cells where there is no number."""
    priced = dict.fromkeys(name for row in rows for name in row.energy_pj)
    names = [each.name for each in fields(Row) if each.name != "energy_pj"]
    return [
        {name: "" if value is None else value for name, value in asdict(row).items() if name in names}
        | {f"energy_{cost}_pj": row.energy_pj.get(cost, "") for cost in priced}
        for row in rows
    ]
