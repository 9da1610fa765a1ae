"""Spikes recorded from networks against what `measure` counted of the same images, by another way."""

import numpy as np
import pytest
import torch

import pascal
from pascal.graph import measure
from pascal.graph.arrivals import record_counts, record_words
from pascal.hardware import compare_machines

IMAGES = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def converted(network: str, neuron: str = "pasc", **options):
    torch.manual_seed(2)
    ann = pascal.build_network(network, width=0.0625, levels=4, **options).double().eval()
    return pascal.convert(ann, neuron=neuron, **({"timesteps": 4} if neuron == "if" else {}))


PASC = [("pasc", "vgg16", {}), ("pasc", "vgg16", {"pool": "avg"}), ("pasc", "resnet18", {}), ("pasc", "resnet20", {})]
# Max pooling of plain trains takes place at each timestep in the machine, and on sums in `measure`.
PLAIN = [("if", "vgg16", {"pool": "avg"}), ("if", "resnet18", {})]


@pytest.mark.parametrize(("neuron", "network", "options"), PASC + PLAIN)
def test_every_layer_sees_the_spikes_that_were_counted(neuron, network, options):
    """Strides, shortcuts and poolings included: the spikes of each map are those that `measure` sums."""
    snn = converted(network, neuron, **options)
    workloads = measure(snn, [IMAGES])
    arrivals = (record_counts if neuron == "pasc" else record_words)(snn, workloads, IMAGES)
    for workload, layer in zip(workloads, arrivals, strict=True):
        if workload.is_input:
            assert layer.spikes is None
            continue
        spikes = np.bitwise_count(layer.spikes).sum() if neuron == "if" else layer.spikes.sum(dtype=np.int64)
        counted = workload.producer_spikes_per_neuron * np.prod(workload.input_shape) * len(IMAGES)
        assert spikes == pytest.approx(counted, rel=1e-6), workload.path


@pytest.mark.parametrize("network", ["vgg16", "resnet18"])
def test_recorded_networks_can_be_simulated(network):
    pasc, plain = converted(network), converted(network, "if")
    traces = [pascal.record(snn, [IMAGES]) for snn in (pasc, plain)]
    rows, _ = compare_machines(*traces)
    assert len(rows) > 3
