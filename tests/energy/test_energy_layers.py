"""Layers are checked, levels are read in every form, and branches meet."""

from dataclasses import replace

import pytest

from pascal.energy.layers import levels_by_activation, neuron_layers, spiking_layers
from pascal.errors import PascalError
from tests.energy.shapes import conv, linear, resnet

PAIR = [
    conv("a", (3, 2), 4, 3, activation="x", levels=4),
    conv("b", (2, 2), 4, 3, producers=("x",), activation="y", levels=4),
    linear("c", 32, 5, ("y",)),
]


@pytest.mark.parametrize("levels", [None, 4, [4, 4], (4, 4), {"x": 4, "y": 4}])
def test_levels_come_in_every_form(levels):
    assert levels_by_activation(PAIR, levels) == {"x": 4, "y": 4}


def test_list_of_levels_follows_the_forward_order():
    assert levels_by_activation(PAIR, [2, 8]) == {"x": 2, "y": 8}


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([4], "got 1 numbers for 2 QCFS layers"),
        ([4, 4, 4], "got 3 numbers for 2 QCFS layers"),
        ({"x": 4}, r"disagree on \['y'\]"),
        ({"x": 4, "y": 4, "z": 4}, r"disagree on \['z'\]"),
        (0, "'x': got 0, expected a whole number >= 1"),
        ([4, 2.5], "'y': got 2.5"),
        ([True, 4], "'x': got True"),
        ("44", "'x': got '44'"),
    ],
)
def test_bad_levels_are_refused_by_name(levels, message):
    with pytest.raises(PascalError, match=message):
        levels_by_activation(PAIR, levels)


def test_missing_levels_are_refused_by_name():
    with pytest.raises(PascalError, match="'y': got None"):
        levels_by_activation([PAIR[0], replace(PAIR[1], levels=None)])


@pytest.mark.parametrize(
    ("workloads", "message"),
    [
        ([], "got none"),
        ([replace(PAIR[0], macs=0)], "layer 'a': got macs=0"),
        ([replace(PAIR[0], fan_in=0)], "layer 'a': .*fan_in=0"),
        ([PAIR[0], replace(PAIR[1], activation="x")], r"activations \['x'\]"),
        ([PAIR[2]], "no layer has an activation"),
    ],
)
def test_bad_workloads_are_refused_by_name(workloads, message):
    with pytest.raises(PascalError, match=message):
        spiking_layers(workloads)


def test_first_layer_sees_pixels_and_the_next_the_levels_before_it():
    first, second = neuron_layers(PAIR, [2, 8])
    assert (first.timesteps, first.levels, first.producers) == (None, 2, frozenset())
    assert (second.timesteps, second.levels, second.producers) == (2, 8, frozenset({"x"}))


def test_projection_lengthens_the_train_that_reaches_the_sum():
    network = resnet((1, 1), 10, 8, False)
    levels = {"stem.act": 2, "1.1.act1": 2, "1.1.act2": 16, "2.1.act1": 4, "2.1.act2": 8}
    timesteps = {layer.activation: layer.timesteps for layer in neuron_layers(network, levels)}
    assert timesteps["2.1.act2"] == 16  # conv2 brings 4 timesteps, the projection of 1.1.act2 brings 16


def test_activations_stand_in_forward_order_whichever_branch_owns_them():
    owner_first = [
        PAIR[0],
        conv("projection", (2, 2), 4, 1, producers=("x",), activation="z"),
        PAIR[1],
        conv("last", (2, 2), 4, 3, producers=("y",), activation="z", owns=False),
    ]
    assert list(levels_by_activation(owner_first)) == ["x", "y", "z"]


def test_identity_shortcut_lengthens_the_train_that_reaches_the_sum():
    network = resnet((2,), 10, 8, False)
    levels = {"stem.act": 4, "1.1.act1": 4, "1.1.act2": 16, "1.2.act1": 8, "1.2.act2": 8}
    timesteps = {layer.activation: layer.timesteps for layer in neuron_layers(network, levels)}
    assert timesteps["1.2.act2"] == 16  # conv2 brings 8 timesteps, the identity of 1.1.act2 brings 16


def test_producer_without_a_layer_of_its_own_keeps_the_recorded_timesteps():
    orphan = replace(PAIR[1], producers=("between",), producer_levels=3)
    assert neuron_layers([PAIR[0], orphan], [2, 8])[1].timesteps == 3
    assert neuron_layers([PAIR[0], orphan], {"x": 2, "y": 8, "between": 3})[1].timesteps == 3
