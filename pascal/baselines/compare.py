"""Every method on one network, on the same images, in one accounting."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from pascal.baselines.accounting import Tally, synapses_over_time
from pascal.baselines.discovery import METHODS
from pascal.baselines.method import Answer, Field, Method
from pascal.energy import EnergyCosts
from pascal.errors import PascalError
from pascal.graph.measure import layer_shapes
from pascal.graph.observe import observe
from pascal.inference import check_model, image_batches, labelled_batches
from pascal.workload import LayerWorkload

_MERGED_IMAGES = 256  # timesteps times images that go through the network at once


@dataclass(frozen=True)
class Row:
    """One answer of one method. Operations, synapses and energy are means over the images."""

    method: str
    label: str
    answer: str
    chosen: bool
    exact: bool
    images: int
    accuracy: float | None
    agreement: float
    mismatches: float | None  # share of the neurons that do not stand for the ANN's level
    first_mismatch: str | None
    timesteps: float  # T_alg
    total_timesteps: float  # T_tot
    sequential_timesteps: float  # S_seq
    synaptic_operations: float
    neuron_operations: float
    buffer_bits: float  # of a neuron, mean
    seconds: float  # of an image, in this implementation
    inexact_pooling: int  # maxima taken timestep by timestep
    energy_pj: Mapping[str, float]  # by cost table: first layer's MACs, synaptic and neuron operations


def compare(
    ann: nn.Module,
    batches: Iterable[Any],
    methods: Sequence[str] | None = None,
    timesteps: Sequence[int] = (1, 2, 4, 8, 16, 32, 64),
    presimulation: int = 4,
    calibration: Iterable[Any] | None = None,
    training: Iterable[Any] | None = None,
    epochs: int = 10,
    costs: Mapping[str, EnergyCosts] | None = None,
) -> list[Row]:
    """Rows of the chosen methods; by default of all for which there is what they need.

    `calibration`: tensors of training images, for what must be chosen; `training`: labelled batches, for `tet`.
    """
    check_model(ann, "ann")
    if isinstance(batches, Iterator):
        raise PascalError("batches: got an iterator, expected a list or a DataLoader: every method reads them again")
    shown = None if calibration is None else list(image_batches(calibration))
    labelled = None if training is None else list(labelled_batches(training))
    field = Field(tuple(timesteps), presimulation, shown, labelled, epochs)
    names = _possible(field) if methods is None else list(methods)
    for name in names:
        if name not in METHODS:
            raise PascalError(f"methods: got {name!r}, expected some of {', '.join(METHODS)}")
    return [row for name in names for row in _rows(name, ann, batches, field, costs or {})]


def _possible(field: Field) -> list[str]:
    """The methods that this field suffices for."""
    return [name for name, method in METHODS.items() if all(getattr(field, need) is not None for need in method.needs)]


def _rows(
    name: str, ann: nn.Module, batches: Iterable[Any], field: Field, costs: Mapping[str, EnergyCosts]
) -> Iterator[Row]:
    """Rows of one method; what goes wrong names it."""
    try:
        for method in METHODS[name].variants(ann, field):
            yield from _measure(method, ann, batches, costs)
    except PascalError as error:
        raise PascalError(f"{name}: {str(error).removeprefix(f'{name}: ')}") from error


def _measure(method: Method, ann: nn.Module, batches: Iterable[Any], costs: Mapping[str, EnergyCosts]) -> Iterator[Row]:
    tallies = {answer.label: Tally() for answer in method.answers}
    seconds, shape = 0.0, None
    for images, labels in _portions(method, batches):
        shape = images.shape[1:]
        expected = observe(ann, images)
        start = time.perf_counter()
        outcome = method.run(images)
        seconds += time.perf_counter() - start
        synapses = synapses_over_time(method, outcome, images)
        for answer in method.answers:
            tallies[answer.label].add(method, answer, outcome, synapses, expected, labels)
    if shape is None:
        raise PascalError("batches: got no images, expected at least one batch")
    workloads = layer_shapes(ann, tuple(shape))
    for answer in method.answers:
        yield _row(method, answer, tallies[answer.label], workloads, seconds, costs)


def _portions(method: Method, batches: Iterable[Any]) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Batches small enough to be repeated over the timesteps."""
    size = max(1, _MERGED_IMAGES // method.longest)
    for batch in batches if not isinstance(batches, Tensor) else [batches]:
        (images,) = image_batches([batch])
        labels = None if isinstance(batch, Tensor) else next(labelled_batches([batch]))[1]
        for start in range(0, len(images), size):
            part = slice(start, start + size)
            yield images[part], None if labels is None else labels[part]


def _row(
    method: Method,
    answer: Answer,
    tally: Tally,
    workloads: Sequence[LayerWorkload],
    seconds: float,
    costs: Mapping[str, EnergyCosts],
) -> Row:
    timesteps = tally.timesteps / tally.images
    neurons = {layer.activation: (layer.neurons, layer.levels) for layer in workloads if layer.neurons and layer.levels}
    total = sum(number for number, _ in neurons.values())
    operations = sum(number * method.neuron_operations(levels, timesteps) for number, levels in neurons.values())
    synapses = tally.synapses / tally.images
    pixels = sum(layer.macs for layer in workloads if layer.is_input)
    buffers = sum(number * method.buffer_bits(levels, timesteps) for number, levels in neurons.values())
    return Row(
        method=method.name,
        label=method.label,
        answer=answer.label,
        chosen=answer.chosen,
        exact=method.exact,
        images=tally.images,
        accuracy=tally.right / tally.labelled if tally.labelled else None,
        agreement=tally.agreeing / tally.images,
        mismatches=sum(tally.mismatches.values()) / tally.neurons if tally.neurons else None,
        first_mismatch=next((path for path, wrong in tally.mismatches.items() if wrong), None),
        timesteps=timesteps,
        total_timesteps=method.total_timesteps(timesteps),
        sequential_timesteps=method.sequential_timesteps(timesteps),
        synaptic_operations=synapses,
        neuron_operations=operations,
        buffer_bits=buffers / total,
        seconds=seconds / tally.images,
        inexact_pooling=len(method.network.inexact),
        energy_pj={
            name: pixels * cost.mac_pj() + (synapses + operations) * cost.add_pj for name, cost in costs.items()
        },
    )
