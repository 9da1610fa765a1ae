"""`pascal.record`: real spikes of any network, in the form that the simulators take."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pascal
from benchmarks.networks import lively

IMAGES = torch.rand(5, 3, 12, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
CHOICES: dict[str, dict[str, Any]] = {
    "steps": {"engine": "steps"},
    "counts": {"engine": "counts"},
    "integer": {"engine": "integer"},
    "if": {"neuron": "if", "timesteps": 6},
}


def network() -> nn.Module:
    """Convolutions, one of them depthwise, one in groups; both poolings; fully connected layers."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), pascal.QCFS(), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, padding=1, groups=8), pascal.QCFS(),
        nn.Conv2d(8, 12, 3, stride=2, groups=2), pascal.QCFS(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(12, 6), pascal.QCFS(), nn.Linear(6, 4),
    )  # fmt: skip
    return lively(model, IMAGES, [3, 4, 2, 5])


@pytest.mark.parametrize("options", CHOICES.values(), ids=CHOICES)
def test_every_engine_and_neuron_can_be_recorded_and_simulated(options: dict[str, Any]) -> None:
    snn = pascal.convert(network(), **options)
    trace = pascal.record(snn, [(IMAGES[:2], None), (IMAGES[2:], None)])
    assert (trace.images, trace.neuron) == (5, snn.neuron)
    assert [layer.path for layer in trace.layers] == ["0", "3", "5", "9", "11"]
    neuron = "if" if snn.neuron == "if" else "pasc"
    assert pascal.simulate(trace, accelerator="loas", neuron=neuron).latency_s > 0


def test_what_is_recorded_is_what_the_neurons_emit() -> None:
    snn = pascal.convert(network())
    trace = {layer.path: layer for layer in pascal.record(snn, [IMAGES]).layers}
    _, counts = snn.record(IMAGES)
    for image in range(len(IMAGES)):
        assert np.array_equal(trace["5"].spikes_of(image), counts["4"][image])  # type: ignore[arg-type]
        pooled = nn.functional.max_pool2d(counts["1"][image].double(), 2)
        assert np.array_equal(trace["3"].spikes_of(image), pooled)  # type: ignore[arg-type]
    assert trace["0"].spikes is None
    assert np.array_equal(trace["3"].active_outputs, (counts["4"] > 0).flatten(1).sum(1))


def test_words_of_plain_neurons_are_their_trains() -> None:
    snn = pascal.convert(network(), neuron="if", timesteps=40)
    trace = {layer.path: layer for layer in pascal.record(snn, [IMAGES]).layers}
    _, trains = snn.trains(IMAGES)
    words = trace["5"].spikes_of(0)
    assert words is not None
    bits = np.stack([words >> np.uint64(timestep) & np.uint64(1) for timestep in range(40)])
    assert np.array_equal(bits, trains["4"][:, 0])


@pytest.mark.parametrize("options", CHOICES.values(), ids=CHOICES)
def test_batches_do_not_matter(options: dict[str, Any]) -> None:
    snn = pascal.convert(network(), **options)
    whole, streamed = pascal.record(snn, [IMAGES]), pascal.record(snn, iter(IMAGES.split(2)))
    for one, other in zip(whole.layers, streamed.layers, strict=True):
        assert np.array_equal(one.weights, other.weights)
        assert np.array_equal(one.active_outputs, other.active_outputs)
        assert (one.spikes is None) == (other.spikes is None)
        assert one.spikes is None or np.array_equal(one.spikes, other.spikes)
        assert one.workload.synaptic_operations == pytest.approx(other.workload.synaptic_operations)


def sizes() -> list[Tensor]:
    return [torch.rand(1, 3, size, size, dtype=torch.float64) for size in (8, 10)]


def test_what_cannot_be_recorded_is_refused_by_name() -> None:
    ann = network()
    with pytest.raises(pascal.PascalError, match="convert"):
        pascal.record(ann, [IMAGES])  # type: ignore[arg-type]
    with pytest.raises(pascal.PascalError, match="batches"):
        pascal.record(pascal.convert(ann), [])
    with pytest.raises(pascal.PascalError, match="timesteps: got 65"):
        pascal.record(pascal.convert(ann, neuron="if", timesteps=65), [IMAGES])
    resnet = pascal.build_network("resnet20", width=0.25, image_size=8).double().eval()
    with pytest.raises(pascal.PascalError, match="one size"):
        pascal.record(pascal.convert(resnet), sizes())
