"""The fast model is the clock-stepped reference, cycle for cycle and event for event."""

import ast
import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import tests.hardware.reference
from pascal.hardware import accelerator_from_params, simulate
from pascal.hardware.energy import EVENTS
from pascal.neurons import if_spikes, pasc_spikes, qcfs_count
from tests.hardware.reference import ReferenceLayer, run_reference
from tests.hardware.tiny import as_trace, dense_sums, random_layer, random_machine

_EVENTS_OF_MEMORY = {"sram_read_byte", "sram_write_byte", "dram_bit"}


def _compare(seed: int) -> tuple[str, ...]:
    """One random layer on one random machine, both models."""
    rng = np.random.default_rng(seed)
    machine, neuron, block = random_machine(rng)
    layer = random_layer(rng, neuron)
    if layer.levels is None:
        layer = replace(layer, residual=[])  # residual additions belong to a layer that owns neurons
    accelerator = accelerator_from_params(block, machine)
    held = accelerator.timesteps or len(layer.trains[0][0])
    reference = run_reference(layer, accelerator, neuron, held)
    fast = simulate(as_trace(layer, neuron), machine, neuron, block)
    (row,) = fast.layer_rows()
    _check_numbers(layer, neuron, reference)
    assert row["compute_cycles"] + row["neuron_cycles"] == reference.cycles, block
    busy = sum(reference.states[state] for state in ("sched", "join", "drain"))
    assert row["busy_cycles"] == busy, block
    events = {name: row[name] for name in EVENTS if row[name] and name not in _EVENTS_OF_MEMORY}
    assert events == dict(reference.events), block
    return machine, neuron, block["profile"], block["schedule"], block["overlap"]


def _check_numbers(layer: ReferenceLayer, neuron: str, reference: tests.hardware.reference.ReferenceResult) -> None:
    """Sums and spikes of the machine are those of the arithmetic and of the neurons of Section 3."""
    sums = dense_sums(layer)
    for (row, n), own in reference.sums.items():
        assert sum(own) == sums[row, n]
        if layer.levels is None:
            continue
        spikes = reference.spikes[row, n]
        if neuron == "if":
            currents = torch.tensor(own * layer.levels if layer.pixels else own)
            assert spikes == if_spikes(currents, layer.step).int().tolist()
        else:
            count = qcfs_count(torch.tensor(float(sums[row, n]), dtype=torch.float64), layer.step, layer.levels)
            assert spikes == [int(t < count) for t in range(layer.levels)]


def test_fast_model_is_the_reference_on_150_random_layers() -> None:
    seen = [_compare(seed) for seed in range(150)]
    assert {case[2] for case in seen} == {"ideal", "h1", "nf", "cons"}
    assert {case[3:] for case in seen} >= {
        (schedule, overlap)
        for schedule in ("dynamic", "lpt", "barrier", "barrier_n", "gb")
        for overlap in ("blocking", "pipelined")
    }


@pytest.mark.slow
def test_fast_model_is_the_reference_on_1000_random_layers() -> None:
    for seed in range(150, 1150):
        _compare(seed)


@pytest.mark.parametrize("levels", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("timesteps", [1, 2, 4, 8, 16])
def test_reference_spikes_are_algorithm_1_and_qcfs(timesteps: int, levels: int) -> None:
    rng = np.random.default_rng([timesteps, levels])
    counts = rng.integers(0, timesteps + 1, (5, 30))
    trains = (np.arange(timesteps) < counts[..., None]).astype(int)
    weights = rng.integers(-20, 24, (20, 30))
    step = 2 * max(1, 20 * timesteps // levels)
    layer = ReferenceLayer(trains.tolist(), weights.tolist(), rng.integers(-99, 99, 20).tolist(), step, levels)
    for unit in ("serial", "flat"):
        reference = run_reference(layer, accelerator_from_params({"pasc_unit": unit}), "pasc", timesteps)
        _check_numbers(layer, "pasc", reference)
        for index, own in reference.sums.items():
            assert reference.spikes[index] == pasc_spikes(torch.tensor(own), step, levels).int().tolist()
    fired = [sum(spikes) for spikes in reference.spikes.values()]
    assert min(fired) == 0
    assert max(fired) == levels


def test_reference_imports_nothing_of_the_fast_model_but_the_presets() -> None:
    folder = Path(inspect.getfile(tests.hardware.reference)).parent
    imported = {
        node.module
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("pascal")
    }
    outside = {module for module in imported if not str(module).startswith("tests.hardware.reference")}
    assert outside == {"pascal.accelerators.accelerator"}
