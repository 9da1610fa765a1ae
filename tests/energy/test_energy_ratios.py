"""r', r_E and the ratio of ANN to SNN."""

from dataclasses import replace
from math import inf, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pascal.energy import (
    FP32,
    INT8,
    ann_snn_ratio,
    energy_ratio,
    first_layer_share,
    layer_energy_ratios,
    mean_spikes_per_neuron,
    mean_synaptic_operations,
    network_energy_ratio,
    operation_ratio,
    synaptic_ratio,
)
from pascal.errors import PascalError
from tests.energy.shapes import spiking, vgg16

RATE = st.floats(0.01, 8)
VGG = vgg16(10, 32)


@given(st.integers(1, 20_000), st.integers(1, 32), RATE)
def test_energy_ratio_is_the_paper_s_in_terms_of_the_operation_ratio(fan_in, levels, rate):
    r = operation_ratio(fan_in, rate)
    assert isclose(r, 1 / (fan_in * rate))
    assert isclose(energy_ratio(fan_in, levels, rate), (1 + (5 * levels - 2) * r) / (1 + levels * r))


def test_silent_layer_does_nothing_but_its_neurons():
    assert operation_ratio(27, 0.0) == inf
    assert energy_ratio(27, 4, 0.0) == 18 / 4


def test_counted_ratio_of_the_first_layer_is_below_the_formula(vgg):
    formula, counted = (layer_energy_ratios(vgg, 4, counted=flag) for flag in (False, True))
    assert isclose(formula["act1_1"], energy_ratio(27, 4, 0.75))
    assert isclose(counted["act1_1"], (27 * 0.75 + 5) / (27 * 0.75 + 4))  # Algorithm 2: 1 + L operations
    assert {name for name in formula if counted[name] != formula[name]} == {"act1_1"}


def test_counted_ratio_follows_both_levels(vgg):
    counted = layer_energy_ratios(vgg, [8] + [4] * 14, counted=True)
    operations = 8 + 7 + 4 + 8 + 7  # resets of three phases and counter updates of two, for L = 8 before L = 4
    assert isclose(counted["act1_2"], (576 * 0.75 + operations) / (576 * 0.75 + 4))


def test_network_ratio_of_vgg16(vgg):
    assert round(network_energy_ratio(vgg, 4), 3) == 1.016  # 332,111,872 MACs and 284,672 neurons at SpikeRate 0.75
    assert 1 < network_energy_ratio(vgg, 4, counted=True) < network_energy_ratio(vgg, 4)


@given(RATE)
def test_exact_ratio_is_the_paper_s_when_all_layers_spike_alike(rate):
    workloads = spiking(VGG, rate)
    for costs in (FP32, INT8):
        paper = ann_snn_ratio(mean_spikes_per_neuron(workloads), first_layer_share(workloads), costs)
        assert isclose(synaptic_ratio(workloads, costs), paper)


def test_exact_ratio_weighs_layers_by_their_macs(measured_vgg):
    busiest = max(measured_vgg[1:], key=lambda workload: workload.macs)
    louder = [
        replace(workload, synaptic_operations=2.0 * workload.macs) if workload is busiest else workload
        for workload in measured_vgg
    ]
    assert mean_spikes_per_neuron(louder) == mean_spikes_per_neuron(measured_vgg) == 0.5
    extra = 1.5 * busiest.macs / sum(workload.macs for workload in measured_vgg[1:])
    assert isclose(mean_synaptic_operations(louder), 0.5 + extra)
    assert synaptic_ratio(louder, FP32) < synaptic_ratio(measured_vgg, FP32)


@pytest.mark.parametrize(
    "figure", [mean_spikes_per_neuron, mean_synaptic_operations, lambda w: synaptic_ratio(w, FP32)]
)
def test_network_without_spikes_is_refused(vgg, figure):
    with pytest.raises(PascalError, match="does not spike"):
        figure(spiking(vgg, rate=0.0))


def test_unmeasured_spikes_are_named(vgg):
    with pytest.raises(PascalError, match="'act1_1': spikes_per_neuron"):
        mean_spikes_per_neuron(vgg)


def test_single_layer_receives_no_spikes(vgg):
    with pytest.raises(PascalError, match="no layer receives spikes"):
        mean_synaptic_operations(spiking(vgg[:1]))
