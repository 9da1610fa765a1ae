"""Recorded spikes of a network that other people trained: the same model, on real masks."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pascal
from benchmarks.checkpoints import QCFS_MEAN, QCFS_RESNET20, QCFS_STD, load_qcfs_resnet20
from pascal.data import load_dataset
from pascal.graph import measure
from pascal.hardware import Trace, compare_machines, layer_trace, network_trace, simulate
from pascal.hardware.cycles import count_matches
from pascal.hardware.lowering import Lowering, lower_activations, lower_filters
from tests.checkpoints import checkpoint_path, data_root
from tests.hardware.match_oracles import count_matches_bitwise, count_matches_matmul

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def traces() -> tuple[Trace, Trace]:
    """PASC and plain IF traces of the QCFS ResNet-20 (L = T = 8) on three CIFAR-10 images."""
    ann = load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20))
    pixels = load_dataset("cifar10", data_root(), mean=QCFS_MEAN, std=QCFS_STD, download=False).test.pixels[:3].float()
    mean, std = (torch.tensor(colours).view(3, 1, 1) for colours in (QCFS_MEAN, QCFS_STD))
    images = (pixels / 255 - mean) / std
    plain = pascal.convert(ann, neuron="if", timesteps=8)
    return _trace(ann, pascal.convert(ann), images), _trace(ann, plain, images, 8)


def _trace(ann: nn.Module, snn: nn.Module, images: Tensor, timesteps: int | None = None) -> Trace:
    trains = snn.trains(images)[1]  # type: ignore[operator]
    layers = []
    for workload in measure(snn, [images]):
        weight = ann.get_submodule(workload.path).weight.detach()  # type: ignore[union-attr, operator]
        scale = weight.abs().amax(tuple(range(1, weight.ndim)), keepdim=True) / 127
        train = trains[workload.producers[0]] if workload.producers else None
        digits = torch.ones(8, dtype=torch.int) if timesteps is None else 1 << torch.arange(8, dtype=torch.int)
        spikes = None if train is None else torch.einsum("t,t...->...", digits, train.int()).numpy().astype(np.uint8)
        active = torch.zeros(len(images), dtype=torch.int)
        if workload.activation:
            active = trains[workload.activation].any(0).flatten(1).sum(1)
        pool = (8, 8) if workload.kind == "linear" else (1, 1)  # the global average before the readout
        int8 = (weight / scale).round().to(torch.int8).numpy()
        layers.append(layer_trace(workload, int8, spikes, active.numpy(), pool=pool, timesteps=timesteps))
    return network_trace(layers)


def test_three_counters_agree_on_recorded_spikes(traces: tuple[Trace, Trace]) -> None:
    lowering = Lowering(128, "cmajor", "expand")
    for layer in [layer for trace in traces for layer in trace.layers]:
        masks = lower_activations(layer, 0, lowering).masks, lower_filters(layer, lowering).masks
        matches = count_matches(*masks)
        assert np.array_equal(matches, count_matches_bitwise(*masks))
        assert np.array_equal(matches, count_matches_matmul(*masks))


def test_loas_and_sparten_see_the_same_matches_of_real_images(traces: tuple[Trace, Trace]) -> None:
    loas, sparten = simulate(traces[0]), simulate(traces[0], "sparten", "qcfs")
    assert np.array_equal(loas.of_image("match"), sparten.of_image("match"))


def test_plain_neurons_are_silent_elsewhere(traces: tuple[Trace, Trace]) -> None:
    _, runs = compare_machines(*traces)
    assert runs["if blocking"].mean("match") != runs["pasc blocking"].mean("match")
    assert runs["pasc blocking"].mean("neuron_pj") > runs["if blocking"].mean("neuron_pj")
