"""The benchmark of a trained network: what it holds equal is equal."""

import numpy as np
import pytest
import torch
from torch import nn

import pascal
from benchmarks.studies.hardware_pruning import estimate_statistics, prune
from benchmarks.studies.hardware_trained import Traces, record, weight_density, widened
from pascal.graph.arrivals import int8_weights
from pascal.hardware import compare_machines, prune_trace


@pytest.fixture(scope="module")
def ann() -> nn.Module:
    torch.manual_seed(2)
    ann = pascal.build_network("vgg16", width=0.0625)
    estimate_statistics(ann, [(_images(8), torch.zeros(8))])
    return ann


@pytest.fixture(scope="module")
def traces(ann: nn.Module) -> Traces:
    return record(ann, [(_images(2), torch.zeros(2))])


def _images(count: int) -> torch.Tensor:
    return torch.randn(count, 3, 32, 32, generator=torch.Generator().manual_seed(count))


def test_with_the_same_spikes_only_the_neuron_differs(traces: Traces) -> None:
    _, runs = compare_machines(traces["pasc"], traces["as PASC"])
    pasc, plain = runs["pasc blocking"], runs["if blocking"]
    for field in ("match", "correction_add", "pe_pj", "sram_pj", "dram_pj", "busy_cycles"):
        assert np.array_equal(pasc.of_image(field), plain.of_image(field)), field
    assert (pasc.of_image("neuron_pj") > plain.of_image("neuron_pj")).all()
    assert (pasc.of_image("neuron_cycles") > plain.of_image("neuron_cycles")).all()


def test_plain_neurons_have_spikes_of_their_own(traces: Traces) -> None:
    _, runs = compare_machines(traces["pasc"], traces["own"])
    assert (runs["pasc blocking"].of_image("match") != runs["if blocking"].of_image("match")).all()


def test_the_full_width_network_keeps_the_densities(traces: Traces) -> None:
    narrow, wide = traces["pasc"].workloads, widened(traces["pasc"].workloads)
    assert sum(workload.macs for workload in wide) == 332_111_872  # the paper's table
    for small, large in zip(narrow[1:], wide[1:], strict=True):
        assert large.nonzero_macs / large.macs == pytest.approx(small.nonzero_macs / small.macs)
        assert large.producer_levels == small.producer_levels == 4


def test_pruning_the_network_is_pruning_its_trace(ann: nn.Module, traces: Traces) -> None:
    """But for weights that INT8 rounds to the same number, of which either may stay."""
    pruned, layers = prune(ann, 0.25), prune_trace(traces["pasc"], 0.25).layers
    for layer, before in zip(layers, traces["pasc"].layers, strict=True):
        own = int8_weights(pruned.get_submodule(layer.path).weight)
        assert np.array_equal(np.sort(np.abs(own), None), np.sort(np.abs(layer.weights), None)), layer.path
        assert ((own == 0) | (own == before.weights)).all()
    assert weight_density(prune_trace(traces["pasc"], 0.25)) == pytest.approx(0.25, abs=0.002)
