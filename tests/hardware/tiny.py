"""Random tiny layers, as the reference sees them and as a trace sees them, on random machines."""

from typing import Any

import numpy as np
from numpy.random import Generator

from pascal.hardware import Trace, layer_trace, network_trace
from pascal.workload import LayerWorkload
from tests.hardware.reference import ReferenceLayer

_MACHINES = {"loas": ["if", "pasc"], "sparten": ["qcfs"]}
_CHOICES = {
    "profile": ["ideal", "h1", "nf", "cons"],
    "schedule": ["dynamic", "lpt", "barrier", "barrier_n", "gb"],
    "overlap": ["blocking", "pipelined"],
    "if_unit": ["unrolled", "serial"],
    "pasc_unit": ["serial", "flat"],
    "image_timesteps": ["one", "levels"],
    "pes": [1, 2, 4, 16],
    "chunk": [16, 64, 128],
    "tile": [2, 3, 32],
    "timesteps": [None, 1, 2, 3],
    "memory": [True, False],
    "k_order": ["cmajor", "pixmajor"],
}


def random_machine(rng: Generator) -> tuple[str, str, dict[str, Any]]:
    """Machine, neuron and a block of parameters, every mode equally likely."""
    machine = str(rng.choice(list(_MACHINES)))
    neuron = str(rng.choice(_MACHINES[machine]))
    block = {key: values[rng.integers(len(values))] for key, values in _CHOICES.items()}
    return machine, neuron, {"base": "pascal40", **block}


def random_layer(rng: Generator, neuron: str) -> ReferenceLayer:
    """M, N <= 8, K < 400, any density; trains are earliest-first except for the plain IF neuron."""
    rows, filters = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    columns = int(400 ** rng.random())  # short joins as often as long ones, so that neuron units are waited for
    timesteps, levels = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    if neuron == "if":
        levels = timesteps
    pixels, graded = rng.random(2) < 0.15
    graded = bool(graded and not pixels)
    weights = rng.integers(-127, 128, (filters, columns)) * (rng.random((filters, columns)) < rng.random())
    paths = 0 if pixels else int(rng.integers(0, 3))
    return ReferenceLayer(
        trains=(
            rng.integers(-99, 256, (rows, columns, 1 if pixels else timesteps)).tolist()
            if pixels or graded
            else _trains(rng, (rows, columns), timesteps, neuron)
        ),
        weights=weights.tolist(),
        bias=rng.integers(-500, 500, filters).tolist(),
        step=2 * int(rng.integers(1, 1000)),
        levels=None if rng.random() < 0.1 else levels,
        pixels=bool(pixels),
        graded=graded,
        residual=[_trains(rng, (rows, filters), timesteps, neuron) for _ in range(paths)],
    )


def _trains(rng: Generator, shape: tuple[int, int], timesteps: int, neuron: str) -> list:
    counts = rng.integers(0, timesteps + 1, shape) * (rng.random(shape) < rng.random())
    trains = np.arange(timesteps) < counts[..., None]
    return (rng.permuted(trains, axis=-1) if neuron == "if" else trains).astype(int).tolist()


def dense_sums(layer: ReferenceLayer) -> np.ndarray:
    """Preactivations without any machine: Σ over time of trains · weights, bias, residual. Shape: (M, N)."""
    values = np.asarray(layer.trains).sum(-1) @ np.asarray(layer.weights).T + np.asarray(layer.bias)
    return values + layer.step * sum((np.asarray(path).sum(-1) for path in layer.residual), np.zeros((), int))


def as_trace(layer: ReferenceLayer, neuron: str) -> Trace:
    """The layer as a 1×1 convolution over an M×1 map."""
    trains, weights = np.asarray(layer.trains), np.asarray(layer.weights)
    (rows, columns, timesteps), filters = trains.shape, len(weights)
    outputs = rows * filters if layer.levels else 0
    # LayerWorkload ties residual additions to an activation's neurons.
    workload = LayerWorkload(
        "layer", "conv", (columns, rows, 1), (filters, rows, 1), (1, 1), (1, 1), (0, 0), (1, 1),
        macs=rows * filters * columns, fan_in=columns, producer_levels=None if layer.pixels else timesteps,
        graded_input=layer.graded, levels=layer.levels, neurons=outputs, additions=len(layer.residual) * outputs,
    )  # fmt: skip
    spikes = None
    if not layer.pixels and not layer.graded:
        digits = 1 << np.arange(timesteps) if neuron == "if" else np.ones(timesteps, int)
        spikes = (trains @ digits).T.reshape(1, columns, rows, 1).astype(np.uint8)
    mask = weights.reshape(filters, columns, 1, 1).astype(np.int8)
    repeats = layer.levels or timesteps  # the plain network sees pixels at every timestep
    trace = layer_trace(workload, mask, spikes, [0], timesteps=repeats if neuron == "if" else None)
    return network_trace([trace])
