"""Histograms of levels against a dump of all activations."""

import numpy as np
import pytest
import torch
from torch import nn

from pascal.adapt import level_histograms
from pascal.errors import PascalError
from pascal.neurons import QCFS


def small_network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        QCFS(levels=4, threshold=2.0),
        nn.Flatten(),
        nn.Linear(144, 7),
        QCFS(8, 1.0),
    )


def some_batches(sizes: tuple[int, ...] = (5, 3)) -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(1)
    return [(torch.randn(size, 3, 8, 8), torch.zeros(size, dtype=torch.long)) for size in sizes]


def test_histogram_counts_every_neuron_of_every_image():
    network, batches = small_network(), some_batches()
    histograms = level_histograms(network, batches)
    network.eval()
    with torch.no_grad():
        images = torch.cat([images for images, _ in batches])
        first = network[:3](images)
        second = network(images)
    assert list(histograms) == ["2", "5"]
    levels = (first / network[2].step).round().long().flatten()
    assert np.array_equal(histograms["2"], np.bincount(levels.numpy(), minlength=5))
    assert histograms["5"].sum() == 8 * 7
    assert histograms["5"][0] == int((second == 0).sum())
    assert [h.dtype for h in histograms.values()] == [np.int64] * 2


def test_batches_may_be_cut_anyhow():
    network, images = small_network(), torch.cat([images for images, _ in some_batches()])
    one_by_one = [(image[None], torch.zeros(1)) for image in images]
    for whole, pieces in zip(
        level_histograms(network, some_batches()).values(), level_histograms(network, one_by_one).values(), strict=True
    ):
        assert np.array_equal(whole, pieces)


def test_a_layer_used_twice_counts_twice_and_order_is_that_of_the_forward_pass():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.late, self.early = QCFS(2), QCFS(2)

        def forward(self, images):
            return self.late(self.early(self.early(images)))

    histograms = level_histograms(Twice(), some_batches((2,)))
    assert list(histograms) == ["early", "late"]
    assert histograms["early"].sum() == 2 * histograms["late"].sum()


def test_the_network_is_left_as_it_was():
    network = small_network().train()
    network[1].eval()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    level_histograms(network, some_batches())
    assert network[0].training
    assert not network[1].training
    assert all(torch.equal(before[name], tensor) for name, tensor in network.state_dict().items())
    assert not network[2]._forward_hooks


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_named_with_its_layer(value):
    network = small_network()
    with torch.no_grad():
        network[4].weight[0, 0] = value
    with pytest.raises(PascalError, match=r"layer '5': preactivations are infinite or NaN"):
        level_histograms(network, some_batches())
    with torch.no_grad():
        network[2].raw_threshold.fill_(value)
    with pytest.raises(PascalError, match=rf"layer '2': threshold is {value}, expected a finite number"):
        level_histograms(network, some_batches())
    assert not network[2]._forward_hooks


def test_bad_input_is_named():
    with pytest.raises(PascalError, match="no QCFS layer"):
        level_histograms(nn.Linear(2, 2), [])
    with pytest.raises(PascalError, match="batches: got none"):
        level_histograms(small_network(), [])
