"""A gentle training: so many steps, whatever an epoch has, and batch norms as they were."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from pascal.errors import PascalError
from pascal.training import train
from pascal.training.steps import FirstSteps
from tests.training.toy import CONFIG, ToyBatches, toy_network


@pytest.mark.parametrize("steps", [1, 3, 4, 9])
def test_so_many_steps_from_any_of_them_on(steps: int) -> None:
    own = ToyBatches(steps=4)
    batches = FirstSteps(own, steps)
    every = [images for epoch in range(5) for images, _ in own.epoch(epoch)]
    assert len(batches) == steps
    for epoch, start in ((0, 0), (0, steps - 1), (1, 0)):
        found = [images for images, _ in batches.epoch(epoch, start)]
        expected = every[epoch * steps + start : (epoch + 1) * steps]
        assert len(found) == steps - start
        assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def test_no_steps_are_refused() -> None:
    with pytest.raises(PascalError, match="steps: got 0, expected a whole number >= 1"):
        FirstSteps(ToyBatches(), 0)


@pytest.mark.parametrize("frozen", [True, False])
def test_frozen_batch_norms_keep_their_statistics(frozen: bool) -> None:
    network = toy_network()
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    before = [norm.running_mean.clone() for norm in norms]
    weights = [norm.weight.detach().clone() for norm in norms]
    config = replace(CONFIG, epochs=2, freeze_batch_norm=frozen)
    list(train(network, FirstSteps(ToyBatches(), 3), config, validation=ToyBatches(), bar=False))
    same = [torch.equal(norm.running_mean, mean) for norm, mean in zip(norms, before, strict=True)]
    assert same == [frozen] * len(norms)
    assert not any(torch.equal(norm.weight, weight) for norm, weight in zip(norms, weights, strict=True))
