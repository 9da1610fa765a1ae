"""Operation counts: the paper's formulas, Algorithm 1 itself, and two layers counted by hand."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pascal.energy import ann_operations, neuron_operations, snn_operations
from pascal.errors import PascalError
from pascal.neurons.pasc import emit, integrate, settle
from tests.energy.shapes import conv, linear, spiking

LEVELS = st.integers(1, 32)


@given(LEVELS)
def test_uniform_levels_give_the_formulas_of_section_4_2(levels):
    pasc = neuron_operations(levels, levels)
    assert (pasc.resets, pasc.counter_updates, pasc.total) == (3 * levels - 1, 2 * levels - 1, 5 * levels - 2)
    assert neuron_operations(levels, levels, "if").total == levels


@given(LEVELS, LEVELS)
def test_a_neuron_that_always_fires_counts_what_algorithm_1_does(timesteps, levels):
    """An endless current makes every phase fire at every timestep, so spikes count the resets and counter updates."""
    membrane, count, _ = integrate(torch.full((timesteps, 1), 1e6, dtype=torch.float64), 1.0)
    count = settle(membrane, count, 1.0, max(timesteps, levels) - 1)
    done = neuron_operations(timesteps, levels)
    assert done.counter_updates == count.item()
    assert done.resets == count.item() + emit(count, levels).sum().item()


@given(LEVELS)
def test_first_layer_follows_algorithm_2(levels):
    done = neuron_operations(None, levels)
    assert (done.resets, done.counter_updates) == (1 + levels, 0)


def test_unknown_neuron_is_refused():
    with pytest.raises(PascalError, match="'lif'"):
        neuron_operations(4, 4, "lif")


# Two layers small enough to count: 2·3·3 weights into 4·8·8 neurons, then 256 inputs to 10 outputs.
FIRST = conv("first", (2, 4), 8, 3, activation="x", levels=4)
READOUT = replace(linear("readout", 256, 10, ("x",)), pool_operations=100)


def test_layers_counted_by_hand():
    first, readout = snn_operations(spiking([FIRST, READOUT], rate=0.5))
    assert (first.macs, first.acs, first.scaling_multiplies) == (18 * 256, 0, 0)
    assert (first.resets, first.counter_updates) == (256 * 5, 0)
    assert (readout.macs, readout.acs, readout.scaling_multiplies) == (0, 2560 * 0.5, 10 * 0.5)
    assert (readout.resets, readout.pool_operations) == (0, 100 * 4)


def test_measured_synapses_are_taken_as_they_are():
    readout = replace(spiking([READOUT])[0], synaptic_operations=1234.5)
    assert snn_operations([spiking([FIRST])[0], readout])[1].acs == 1234.5


def test_assumed_rate_needs_no_measurement():
    assert snn_operations([FIRST, READOUT], spikes_per_neuron=0.75)[1].acs == 2560 * 0.75


def test_residual_additions_happen_at_each_timestep():
    inner = replace(conv("inner", (4, 4), 8, 3, producers=("x",), activation="y", levels=2), additions=256)
    inner = replace(inner, producer_levels=4)
    assert snn_operations([FIRST, inner], spikes_per_neuron=1.0)[1].residual_additions == 256 * 4
    assert ann_operations([FIRST, inner])[1].residual_additions == 256


def test_graded_currents_are_multiplied_at_each_timestep():
    graded = replace(READOUT, graded_input=True)
    done = snn_operations(spiking([FIRST, graded]))[1]
    assert (done.macs, done.acs, done.scaling_multiplies) == (2560 * 4, 0, 0)


def test_ann_evaluates_each_neuron_once_and_may_skip_zeros():
    layers = spiking([FIRST, READOUT], silent=0.75)
    assert [done.macs for done in ann_operations(layers)] == [18 * 256, 2560]
    assert [done.macs for done in ann_operations(layers, skip_zeros=True)] == [18 * 256, 640]
    assert [done.activation_functions for done in ann_operations(layers)] == [256, 0]


@pytest.mark.parametrize("rate", [0, -1.0, float("inf"), float("nan")])
def test_rate_without_spikes_is_refused(rate):
    with pytest.raises(PascalError, match="spikes_per_neuron"):
        snn_operations([FIRST, READOUT], spikes_per_neuron=rate)


def test_missing_measurement_names_the_layer():
    with pytest.raises(PascalError, match="'readout': synaptic_operations"):
        snn_operations([FIRST, READOUT])
    with pytest.raises(PascalError, match="'first': nonzero_macs"):
        ann_operations([FIRST, READOUT], skip_zeros=True)
