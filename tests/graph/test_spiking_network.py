"""What every converted network offers, whatever its engine and its neuron."""

from typing import Any

import pytest
import torch
from torch import nn

import pascal

LEVELS = [3, 2, 5, 4, 3]
CHOICES: dict[str, dict[str, Any]] = {
    "steps": {"engine": "steps"},
    "counts": {"engine": "counts"},
    "integer": {"engine": "integer"},
    "if": {"neuron": "if", "timesteps": 6},
}


def network() -> nn.Module:
    torch.manual_seed(0)
    ann = pascal.build_network("resnet20", width=0.25, image_size=8)
    pascal.set_levels(ann, (LEVELS * 4)[: len(pascal.get_levels(ann))])
    return ann.double().eval()


@pytest.mark.parametrize("options", CHOICES.values(), ids=CHOICES)
def test_every_engine_and_neuron_is_a_spiking_network(options: dict[str, Any]) -> None:
    ann, images = network(), torch.rand(2, 3, 8, 8, dtype=torch.float64)
    snn = pascal.convert(ann, **options)
    assert isinstance(snn, pascal.SpikingNetwork)
    plain = snn.neuron == "if"
    expected = dict.fromkeys(pascal.get_levels(ann), 6) if plain else pascal.get_levels(ann)
    assert list(snn.levels.items()) == list(expected.items())
    logits, counts = snn.record(images)
    again, trains = snn.trains(images)
    assert torch.equal(logits, again)
    assert torch.equal(logits, snn(images))
    assert list(counts) == list(trains) == list(snn.levels)
    for path, train in trains.items():
        assert train.dtype == torch.bool
        assert len(train) == snn.levels[path]
        assert torch.equal(train.sum(0), counts[path])


def test_timesteps_stand_under_the_name_of_each_call() -> None:
    ann = network()
    snn = pascal.convert(ann)
    behind = {node.name: str(node.target) for node in snn.edges if str(node.target) in snn.levels}
    assert {behind[name]: timesteps for name, timesteps in snn.timesteps.items() if name in behind} == snn.levels
    assert snn.timesteps[next(node.name for node in snn.edges)] == 1  # an image
    assert set(pascal.convert(ann, neuron="if", timesteps=6).timesteps.values()) == {6}


def test_a_plain_network_is_measured_with_its_own_timesteps() -> None:
    snn = pascal.convert(network(), neuron="if", timesteps=6)
    layers = pascal.measure(snn, [torch.rand(2, 3, 8, 8)])
    assert {layer.producer_levels for layer in layers} == {None, 6}
    assert {layer.levels for layer in layers} == {None, 6}


def test_a_network_of_ones_own_needs_record() -> None:
    with pytest.raises(TypeError, match="record"):
        type("Mute", (pascal.SpikingNetwork,), {"forward": lambda self, images: images})(None, {})
