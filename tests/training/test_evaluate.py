"""Evaluation and what is shown of a training."""

import sys

import pytest
import torch
from torch import nn

from pascal.errors import PascalError
from pascal.training import evaluate, train
from tests.training.toy import CONFIG, ToyBatches, toy_network


def test_predictions_follow_the_batches():
    images = torch.tensor([[1.0, 2.0], [3.0, 1.0], [0.0, 5.0]])
    labels = torch.tensor([1, 0, 0])
    evaluation = evaluate(nn.Identity(), [(images[:2], labels[:2]), (images[2:], labels[2:])])
    assert evaluation.predictions.tolist() == [1, 0, 1]
    assert (evaluation.images, evaluation.correct) == (3, 2)
    assert evaluation.accuracy == 2 / 3


def test_modes_are_left_as_they_were():
    network = toy_network().train()
    network[1].eval()
    statistics = network[4].running_mean.clone()
    evaluate(network, ToyBatches())
    assert network[0].training
    assert not network[1].training
    assert torch.equal(statistics, network[4].running_mean)


def test_nothing_to_evaluate_is_told():
    with pytest.raises(PascalError, match="batches: got none"):
        evaluate(nn.Identity(), [])


def test_a_log_gets_one_plain_line_per_epoch(capsys):
    list(train(toy_network(), ToyBatches(), CONFIG, validation=ToyBatches()))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == CONFIG.epochs
    assert lines[0].startswith("epoch 1/6: loss ")
    for part in ("accuracy", "validation", "lr", "images/s", "left"):
        assert part in lines[0]


def test_a_terminal_gets_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    list(train(toy_network(), ToyBatches(), CONFIG, until=2))
    shown = capsys.readouterr().err
    assert "16/16" in shown
    assert "images/s" in shown
    assert "loss" in shown


def test_a_bar_can_be_refused(capsys):
    list(train(toy_network(), ToyBatches(), CONFIG, until=1, bar=False))
    assert capsys.readouterr().err == ""
