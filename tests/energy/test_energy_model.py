"""Energy by layer and component: one network priced by hand, and what must hold for any."""

from dataclasses import fields, replace
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pascal.energy import FP32, INT8, EnergyCosts, ann_energy, energy_overhead, snn_energy, total_pj
from pascal.errors import PascalError
from tests.energy.shapes import conv, linear, resnet, spiking, vgg16

UNIT = EnergyCosts(bits=8, add_pj=1.0, multiply_pj=10.0, read_pj_per_byte=100.0, write_pj_per_byte=1000.0)

# 18 weights into each of 256 neurons that see pixels, then 36 into each of 256, then 256 to each of 10 classes.
FIRST = conv("first", (2, 4), 8, 3, activation="x", levels=4)
INNER = replace(
    conv("inner", (4, 4), 8, 3, producers=("x",), activation="y", levels=2), producer_levels=4, additions=256
)
READOUT = replace(linear("readout", 256, 10, ("y",)), producer_levels=2, pool_operations=64)
NETWORK = spiking([FIRST, INNER, READOUT], rate=0.5, silent=0.75)


def test_snn_priced_by_hand():
    first, inner, readout = snn_energy(NETWORK, UNIT)
    assert (first.synaptic_pj, first.neuron_pj) == (18 * 256 * 11, 256 * 5)
    assert inner.synaptic_pj == 36 * 256 * 0.5
    assert inner.scaling_pj == 256 * 0.5 * 10
    assert inner.residual_pj == 256 * 4
    assert inner.neuron_pj == 256 * (4 + 3 + 2 + 4 + 3)  # L_{n−1} = 4 before L_n = 2
    assert (readout.pooling_pj, readout.neuron_pj) == (64 * 2, 0)
    assert first.memory_pj == inner.memory_pj == 0
    assert inner.total_pj == inner.matmul_pj + inner.neuron_pj


def test_memory_of_the_snn_by_hand():
    first, inner, readout = snn_energy(NETWORK, UNIT, memory=True)
    assert first.memory_pj == 18 * 256 * 2 * 100 + 256 * 4 / 8 * 1000  # weights and pixels; spikes of 4 timesteps
    fetched, membranes = 36 * 256 * 0.5 * 9 / 8, 256 * 4  # a weight and a bit per AC; membranes at 4 timesteps
    assert inner.memory_pj == (fetched + membranes) * 100 + (256 * 2 / 8 + membranes) * 1000
    assert readout.memory_pj == (2560 * 0.5 * 9 / 8 + 20) * 100 + 20 * 1000


def test_ann_priced_by_hand():
    first, inner, readout = ann_energy(NETWORK, UNIT)
    assert (first.synaptic_pj, first.neuron_pj) == (18 * 256 * 11, 256 * 11)
    assert (inner.synaptic_pj, inner.residual_pj) == (36 * 256 * 11, 256)
    assert (readout.synaptic_pj, readout.pooling_pj, readout.neuron_pj) == (2560 * 11, 64, 0)


def test_rivals_by_hand():
    skipping = ann_energy(NETWORK, UNIT, skip_zeros=True)
    assert [layer.synaptic_pj for layer in skipping] == [18 * 256 * 11, 9 * 256 * 11, 640 * 11]
    low = ann_energy(NETWORK, UNIT, low_bits=True)  # 8 bits of pixels, 3 bits of 0..4, 2 bits of 0..2
    assert [layer.synaptic_pj for layer in low] == [18 * 256 * 11, 36 * 256 * (1 + 10 * 3 / 8), 2560 * (1 + 10 * 2 / 8)]
    stored = ann_energy(NETWORK, UNIT, low_bits=True, memory=True)[1]
    assert stored.memory_pj == 36 * 256 * (8 + 3) / 8 * 100 + 256 * 2 / 8 * 1000


def test_projection_leaves_neurons_and_membranes_to_the_main_path():
    layers = snn_energy(spiking(resnet((1, 1), 10, 8, False)), UNIT, memory=True)
    (projection,) = [layer for layer in layers if layer.path == "2.1.shortcut"]
    assert projection.neuron_pj == 0
    assert projection.memory_pj == 64 * 128 * 16 * 0.5 * 9 / 8 * 100


def test_overhead_of_pasc_by_layer(measured_vgg):
    pasc, plain = (snn_energy(measured_vgg, INT8, neuron) for neuron in ("pasc", "if"))
    overhead = energy_overhead(pasc, plain)
    assert overhead["fc3"] == 1
    assert all(ratio > 1 for path, ratio in overhead.items() if path != "fc3")
    assert min(overhead.values()) <= total_pj(pasc) / total_pj(plain) <= max(overhead.values())


def test_resting_projection_adds_nothing():
    layers = spiking(resnet((1, 1), 10, 8, False))
    layers = [
        replace(layer, synaptic_operations=0.0, producer_spikes_per_neuron=0.0) if "shortcut" in layer.path else layer
        for layer in layers
    ]
    assert energy_overhead(snn_energy(layers, FP32), snn_energy(layers, FP32, "if"))["2.1.shortcut"] == 1


COST = st.floats(0.01, 100)


@given(COST, COST, COST, st.booleans(), st.floats(1.5, 10))
def test_energy_is_linear_in_its_costs(add, multiply, memory_cost, memory, factor):
    costs = EnergyCosts(8, add, multiply, memory_cost, memory_cost)
    dearer = replace(costs, **{f.name: factor * getattr(costs, f.name) for f in fields(costs) if f.name != "bits"})
    for energy in (snn_energy, ann_energy):
        once, more = (total_pj(energy(NETWORK, prices, memory=memory)) for prices in (costs, dearer))
        assert isclose(more, factor * once)


@given(st.floats(0.01, 4), st.floats(0, 1), st.booleans())
def test_each_refinement_of_the_ann_saves_and_memory_costs(rate, silent, memory):
    workloads = spiking(vgg16(10, 32), rate, silent)
    dense = total_pj(ann_energy(workloads, INT8, memory=memory))
    assert total_pj(ann_energy(workloads, INT8, skip_zeros=True, memory=memory)) <= dense
    assert total_pj(ann_energy(workloads, INT8, low_bits=True, memory=memory)) < dense
    assert total_pj(snn_energy(workloads, INT8, memory=True)) > total_pj(snn_energy(workloads, INT8))


def test_network_without_spikes_is_refused():
    with pytest.raises(PascalError, match="does not spike"):
        snn_energy(spiking(NETWORK, rate=0.0), FP32)
