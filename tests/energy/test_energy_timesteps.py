"""T_norm, T_eff, T_total and the latency of layers that wait for each other."""

from dataclasses import replace
from itertools import pairwise
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pascal.energy import (
    effective_timesteps,
    energy_ratio,
    normalised_timesteps,
    sequential_latency,
    total_timesteps,
)
from pascal.errors import PascalError
from tests.energy.shapes import conv, linear, resnet, spiking, vgg16

VGG = vgg16(10, 32)
LISTS = st.lists(st.integers(1, 16), min_size=15, max_size=15)


@given(LISTS)
def test_latency_of_a_chain_is_the_sum_of_the_paper_s_phases(levels):
    waits = (after + max(before, after) - 1 for before, after in pairwise(levels))
    assert sequential_latency(VGG, levels) == levels[0] + sum(waits)
    assert total_timesteps(VGG, levels) == sum(levels)


def test_vgg16_at_four_levels_takes_102_timesteps():
    assert sequential_latency(VGG, 4) == sequential_latency(VGG) == 102


def test_latency_follows_the_longest_path_where_branches_meet():
    network = resnet((1, 1), 10, 8, False)
    levels = {"stem.act": 2, "1.1.act1": 2, "1.1.act2": 2, "2.1.act1": 1, "2.1.act2": 1}
    # 2, then 2+1, 2+1, then 1+1, then 1+1: the projection brings two timesteps to the last sum.
    assert sequential_latency(network, levels) == 2 + 3 + 3 + 2 + 2


def test_slow_branch_beside_a_deep_one():
    diamond = [
        conv("a", (3, 2), 4, 3, activation="x"),
        conv("slow", (2, 2), 4, 3, producers=("x",), activation="y"),
        conv("fast", (2, 2), 4, 3, producers=("x",), activation="z"),
        conv("meet", (2, 2), 4, 3, producers=("y",), activation="w"),
        conv("side", (2, 2), 4, 1, producers=("z",), activation="w", owns=False),
    ]
    assert sequential_latency(diamond, {"x": 1, "y": 16, "z": 1, "w": 1}) == 1 + (16 + 15) + (1 + 15)
    assert sequential_latency(diamond, {"x": 1, "y": 1, "z": 16, "w": 1}) == 1 + (16 + 15) + (1 + 15)


def test_layers_out_of_order_are_refused():
    with pytest.raises(PascalError, match=r"no earlier layer owns \['fact1'\]"):
        sequential_latency(VGG[-2:-4:-1])


@given(LISTS)
def test_effective_timesteps_are_the_mean_of_the_formula(levels):
    terms = [energy_ratio(layer.fan_in, level, 0.75) * level for layer, level in zip(VGG[:15], levels, strict=True)]
    assert isclose(effective_timesteps(VGG, levels), sum(terms) / 15)


@given(LISTS)
def test_names_and_positions_of_levels_mean_the_same(levels):
    named = {layer.activation: level for layer, level in zip(VGG[:15], levels, strict=True)}
    assert effective_timesteps(VGG, dict(reversed(named.items()))) == effective_timesteps(VGG, levels)


@given(st.integers(1, 32))
def test_normalised_timesteps_are_effective_ones_of_a_uniform_network(levels):
    assert normalised_timesteps(VGG, levels) == effective_timesteps(VGG, [levels] * 15)


def test_layerwise_levels_have_no_normalised_timesteps():
    with pytest.raises(PascalError, match=r"got \[4, 8\], but T_norm needs one"):
        normalised_timesteps(VGG, [8] + [4] * 14)


@pytest.mark.parametrize("measured", [None, "measured"])
def test_measured_rates_replace_the_assumption(measured):
    quieter, same = spiking(VGG, 0.1), spiking(VGG, 0.75)
    assert effective_timesteps(quieter, 4, measured) > effective_timesteps(quieter, 4)
    assert effective_timesteps(same, 4, measured) == effective_timesteps(VGG, 4)


def test_one_silent_layer_costs_its_neurons_alone():
    layers = spiking(VGG, 0.75)
    layers[0] = replace(layers[0], spikes_per_neuron=0.0)
    difference = effective_timesteps(layers, 4, None) - effective_timesteps(VGG, 4)
    assert isclose(15 * difference, 18 - 4 * energy_ratio(27, 4, 0.75))


@pytest.mark.parametrize(
    ("layers", "rate", "message"),
    [
        (VGG, None, "'act1_1': spikes_per_neuron was not measured"),
        (spiking(VGG, 0.0), None, "does not spike"),
        (VGG, 0.0, "spikes_per_neuron: got 0.0"),
        (VGG, "assumed", "got 'assumed'"),
        ([linear("fc", 4, 2, ("x",))], 0.75, "no layer has an activation"),
    ],
)
def test_rates_that_make_no_sense_are_refused(layers, rate, message):
    with pytest.raises(PascalError, match=message):
        effective_timesteps(layers, 4, rate)
