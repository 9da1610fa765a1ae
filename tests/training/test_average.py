"""Averaged weights: what the average is, who is validated, what a training ends with; what weight decay leaves out."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from pascal.neurons import QCFS
from pascal.training import TrainingConfig, evaluate, train, weights
from pascal.training.average import WeightAverage
from pascal.training.run import Run
from pascal.training.state import restore, snapshot
from tests.training.toy import SHORT, ToyBatches, toy_network


def test_the_average_is_its_formula():
    model = nn.Linear(1, 1, bias=False).double()
    values, expected = [3.0, -1.0, 4.0, 1.5, 9.0], 2.0
    with torch.no_grad():
        model.weight.fill_(2.0)
        average = WeightAverage(model, 0.2)
        for step, value in enumerate(values):
            model.weight.fill_(value)
            average.update(step)
            kept = min(0.2, (1 + step) / (10 + step))
            expected = kept * expected + (1 - kept) * value
    assert average.tensors["weight"].item() == pytest.approx(expected, rel=1e-12)


def test_validation_and_the_end_are_of_the_averaged_network():
    network, states = toy_network(), []
    records = list(train(network, ToyBatches(), SHORT, validation=ToyBatches(), save=states.append, bar=False))
    last = states[-1].tensors
    for name, tensor in weights(network).items():
        assert torch.equal(tensor, last.get(f"average/{name}", last[f"model/{name}"])), name
    assert not torch.equal(last["average/0.weight"], last["model/0.weight"])
    assert evaluate(network, ToyBatches()).accuracy == records[-1].validation_accuracy


def test_validating_the_average_changes_no_weight():
    """Without validation images the same steps are made."""
    one, other, ends = toy_network(), toy_network(), []
    for network, validation in ((one, None), (other, ToyBatches())):
        list(train(network, ToyBatches(), SHORT, validation=validation, save=ends.append, bar=False))
    whole = [end.tensors for end in ends if end.step == ends[-1].step]
    assert all(torch.equal(tensor, whole[1][name]) for name, tensor in whole[0].items())


def test_other_levels_begin_another_average():
    states = []
    list(train(toy_network(), ToyBatches(), SHORT, until=3, save=states.append, bar=False))
    run = Run(toy_network(levels=2), SHORT, 8)
    restore(run, states[-1])
    begun = snapshot(run).tensors
    assert torch.equal(begun["average/0.weight"], begun["model/0.weight"])


def test_norms_biases_and_thresholds_are_left_out_of_decay():
    """With no gradient a step is the decay alone."""
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), QCFS(4, 2.0), nn.Linear(3, 2))
    config = TrainingConfig(epochs=1, weight_decay=0.1, decay_norms=False, decay_thresholds=False)
    for settings, names in (
        (config, {"0.weight", "3.weight"}),
        (replace(config, decay_norms=True), {"0.weight", "0.bias", "1.weight", "1.bias", "3.weight", "3.bias"}),
    ):
        groups = Run(model, settings, 1).optimiser.param_groups
        decayed = {id(p) for group in groups if group["weight_decay"] for p in group["params"]}
        assert {name for name, p in model.named_parameters() if id(p) in decayed} == names


def test_nesterov_is_torchs():
    assert Run(toy_network(), SHORT, 8).optimiser.param_groups[0]["nesterov"]
    assert not Run(toy_network(), TrainingConfig(), 8).optimiser.param_groups[0]["nesterov"]
