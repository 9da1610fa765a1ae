"""Faults planted into spiking networks, the readout included: each is caught, at the layer where it is."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pascal
from pascal.neurons.modules import IF
from tests.graph.small import lively

LEVELS = [4, 3, 5, 2, 4, 8, 1, 3, 4, 2, 5, 4, 3, 2, 6, 4, 4]


def images() -> Tensor:
    return torch.randn(4, 3, 32, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def ann() -> nn.Module:
    torch.manual_seed(0)
    network = pascal.build_network("resnet18", width=0.25)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.bias, 0, 0.3)
            module.running_mean.normal_(0, 0.3)
    nn.init.normal_(network.fc.bias)
    return lively(network, images(), LEVELS)


class Wrapped(nn.Module):
    """A module whose answer is changed."""

    def __init__(self, module: Any, change: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.module, self.change = module, change

    def forward(self, *arguments: Any) -> Tensor:
        return self.change(self.module(*arguments))


def changed(path: str, change: Callable[[Tensor], Tensor]) -> Callable[[Any], None]:
    """What a module puts out, changed; a neuron stays a neuron."""

    def plant(snn: Any) -> None:
        module = snn.graph.get_submodule(path)
        if hasattr(module, "step"):
            forward = module.forward
            module.forward = lambda currents: change(forward(currents))
        else:
            snn.graph.set_submodule(path, Wrapped(module, change))

    return plant


def number(path: str, name: str, change: Callable[[Tensor], Any]) -> Callable[[Any], None]:
    """A weight, a bias or a step, changed in place or replaced."""

    def plant(snn: Any) -> None:
        tensor = getattr(snn.graph.get_submodule(path), name)
        with torch.no_grad():
            tensor.copy_(change(tensor.clone()))

    return plant


def levels(path: str, value: int) -> Callable[[Any], None]:
    return lambda snn: setattr(snn.graph.get_submodule(path), "levels", value)


def one(index: tuple[int, ...], factor: float) -> Callable[[Tensor], Tensor]:
    def change(weight: Tensor) -> Tensor:
        weight[index] *= factor
        return weight

    return change


def plain_neuron(snn: Any) -> None:
    neuron = snn.graph.get_submodule("layer2.1.act1")
    snn.graph.set_submodule("layer2.1.act1", IF(neuron.step.clone()))


def without_half(snn: Any) -> None:
    snn.graph.get_submodule("layer3.1.act2").half_arrives = True
    snn.graph.get_submodule("layer3.1.conv2").bias.data -= snn.graph.get_submodule("layer3.1.act2").step / 2


FAULTS: dict[str, tuple[str, str, Callable[[Any], None]]] = {  # engine, layer, fault
    "readout weights × 3": ("steps", "fc", number("fc", "weight", lambda w: 3 * w)),
    "one readout weight off by 1e-9": ("steps", "fc", number("fc", "weight", one((3, 5), 1 + 1e-9))),
    "two classes swapped": ("steps", "fc", number("fc", "weight", lambda w: w[[1, 0, *range(2, 10)]])),
    "readout bias not divided": ("steps", "fc", number("fc", "bias", lambda b: 4 * b)),
    "readout bias lost": ("steps", "fc", number("fc", "bias", lambda b: 0 * b)),
    "readout bias off by 1e-10": ("steps", "fc", number("fc", "bias", lambda b: b + 1e-10)),
    "pool divisor 15 for 16": ("steps", "fc", changed("pool", lambda mean: mean * (16 / 15))),
    "readout weights × 3, counts": ("counts", "fc", number("fc", "weight", lambda w: 3 * w)),
    "readout bias off by 1e-10, counts": ("counts", "fc", number("fc", "bias", lambda b: b + 1e-10)),
    "pool divisor 15 for 16, counts": ("counts", "fc", changed("pool", lambda mean: mean * (16 / 15))),
    "latest-first train": ("steps", "layer2.0.act1", changed("layer2.0.act1", lambda train: train.flip(0))),
    "latest-first train of the last layer": ("steps", "layer4.1.act2", changed("layer4.1.act2", lambda t: t.flip(0))),
    "train one timestep late": ("steps", "layer1.0.act2", changed("layer1.0.act2", lambda train: train.roll(1, 0))),
    "first timestep lost": ("steps", "stem.act", changed("stem.act", lambda t: torch.cat([t[:1] & False, t[1:]]))),
    "bias not divided": ("steps", "layer2.0.act1", number("layer2.0.conv1", "bias", lambda b: 4 * b)),
    "one channel lost": ("steps", "layer1.0.act1", number("layer1.0.conv1", "weight", one((2,), 0))),
    "one sign": ("steps", "stem.act", number("stem.conv", "weight", one((1, 2, 0, 0), -1))),
    "shortcut × 1.01": ("steps", "layer3.0.act2", number("layer3.0.shortcut.0", "weight", lambda w: 1.01 * w)),
    "too few levels": ("steps", "layer3.0.act2", levels("layer3.0.act2", 1)),
    "too many levels": ("steps", "layer4.0.act1", levels("layer4.0.act1", 9)),
    "step × 1.01": ("steps", "layer3.1.act1", number("layer3.1.act1", "step", lambda step: 1.01 * step)),
    "step × 1.01, counts": ("counts", "layer3.1.act1", number("layer3.1.act1", "step", lambda step: 1.01 * step)),
    "plain neuron": ("steps", "layer2.1.act1", plain_neuron),
    "half a step lost, counts": ("counts", "layer3.1.act2", without_half),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught_where_it_is(ann: nn.Module, fault: str) -> None:
    engine, layer, plant = FAULTS[fault]
    snn = pascal.convert(ann, engine=engine)
    plant(snn)
    certificate = pascal.verify(ann, snn, images())
    assert not certificate.passed
    assert certificate.first_divergence == layer
    if layer == "fc":
        assert certificate.count_mismatches == 0
        assert certificate.logit_mismatches
    assert layer in str(certificate)


@pytest.mark.parametrize("engine", ["steps", "counts"])
def test_without_a_fault_all_pass(ann: nn.Module, engine: str) -> None:
    certificate = pascal.verify(ann, pascal.convert(ann, engine=engine), images())
    assert certificate.passed
    assert certificate.logit_bound is not None
    assert certificate.max_logit_error <= certificate.logit_bound < 1e-10


@pytest.mark.parametrize(("path", "layer"), [("fc", "fc"), ("layer2.0.conv1", "layer2.0.act1")])
def test_a_fault_in_integers_is_caught(ann: nn.Module, path: str, layer: str) -> None:
    """Between two integer networks logits are equal or they are not: no rounding is allowed for."""
    reference, faulty = (pascal.convert(copy.deepcopy(ann), engine="integer") for _ in range(2))
    batch = images() / 4
    assert pascal.verify(reference.stepwise(), faulty, batch).logit_bound == 0
    constant = faulty.network(batch).graph.get_submodule(path).constant
    constant += 1 if path == "fc" else 1 + constant.abs().max()
    certificate = pascal.verify(reference, faulty.stepwise(), batch)
    assert not certificate.passed
    assert certificate.first_divergence == layer
