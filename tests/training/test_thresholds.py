"""The decay of thresholds acts on θ itself, and thresholds that run away are named."""

import pytest
import torch
from torch import nn

from pascal.errors import PascalError
from pascal.neurons import QCFS
from pascal.training import TrainingConfig, train
from pascal.training.thresholds import check_thresholds, decay_thresholds, threshold_layers, threshold_range
from tests.training.toy import ToyBatches, toy_network


def test_only_trainable_thresholds_count():
    network = toy_network()
    assert list(threshold_layers(network)) == ["2", "5"]
    assert threshold_layers(nn.Linear(2, 2)) == {}
    assert threshold_range(threshold_layers(network)) == (2.0, 2.0)


@pytest.mark.parametrize("threshold", [0.003, 0.05, 0.2, 1.0, 8.0])
def test_decay_is_the_gradient_of_the_penalty_on_theta(threshold):
    """By finite differences in float64: d/draw of wd/2·θ(raw)²."""
    layer = QCFS(4, threshold).double()
    layer.raw_threshold.grad = torch.tensor(0.25, dtype=torch.float64)
    decay_thresholds({"layer": layer}, weight_decay=0.1)

    def penalty(shift: float) -> float:
        moved = QCFS(4, 1.0).double()
        with torch.no_grad():
            moved.raw_threshold.copy_(layer.raw_threshold + shift)
        return 0.05 * moved.threshold.item() ** 2

    slope = (penalty(1e-6) - penalty(-1e-6)) / 2e-6
    assert layer.raw_threshold.grad.item() == pytest.approx(0.25 + slope, rel=1e-6)


def test_a_threshold_without_gradient_stays_without():
    layer = QCFS()
    decay_thresholds({"layer": layer}, 0.1)
    assert layer.raw_threshold.grad is None


class Flat(nn.Module):
    """A network whose loss does not depend on its threshold: what moves it is decay alone."""

    def __init__(self) -> None:
        super().__init__()
        self.act, self.linear = QCFS(4, 8.0), nn.Linear(192, 3)

    def forward(self, images):
        return self.linear(images.flatten(1)) + 0 * self.act(images).sum()


@pytest.mark.parametrize("decayed", [True, False])
def test_thresholds_decay_only_where_asked(decayed):
    network = Flat()
    config = TrainingConfig(epochs=1, learning_rate=0.1, momentum=0.0, weight_decay=0.1, decay_thresholds=decayed)
    list(train(network, ToyBatches(steps=1), config, bar=False))
    expected = 8.0 * (1 - 0.1 * 0.1) if decayed else 8.0  # one step of size lr on wd/2·θ²
    assert network.act.threshold.item() == pytest.approx(expected)


@pytest.mark.parametrize("raw", [2e4, float("nan"), float("inf")])
def test_exploded_thresholds_are_named(raw):
    network = toy_network()
    check_thresholds(threshold_layers(network), 1e4)
    with torch.no_grad():
        network[5].raw_threshold.fill_(raw)
    with pytest.raises(PascalError, match="layer '5': threshold exploded to"):
        check_thresholds(threshold_layers(network), 1e4)


def test_collapsed_thresholds_are_named():
    """Seen with VGG-16 at learning rate 0.1 without warm-up: θ fell to 1e-19 in four steps and accuracy stayed 10 %."""
    network = toy_network()
    with torch.no_grad():
        network[2].raw_threshold.fill_(-0.3)
    with pytest.raises(PascalError, match=r"layer '2': threshold collapsed to .*warmup_epochs"):
        check_thresholds(threshold_layers(network), 1e4)
