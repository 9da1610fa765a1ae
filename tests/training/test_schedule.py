"""The schedule as a function of the step, and configurations that make no sense."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pascal.errors import PascalError
from pascal.training import TrainingConfig, learning_rate, retraining_epochs


def test_cosine_is_torchs():
    config = TrainingConfig(epochs=5, learning_rate=0.1)
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=35)
    for step in range(35):
        assert learning_rate(step, 7, config) == pytest.approx(optimiser.param_groups[0]["lr"], rel=1e-9, abs=1e-12)
        optimiser.step()
        scheduler.step()


def test_warm_up_rises_to_the_peak_and_the_cosine_ends_at_zero():
    config = TrainingConfig(epochs=4, learning_rate=0.4, warmup_epochs=1)
    rates = [learning_rate(step, 10, config) for step in range(40)]
    assert rates[:10] == pytest.approx([0.04 * n for n in range(1, 11)])
    assert rates[10] == 0.4
    assert sorted(rates[10:], reverse=True) == rates[10:]
    assert learning_rate(40, 10, config) == pytest.approx(0.0, abs=1e-15)


def test_linear_decay_falls_evenly_to_zero():
    config = TrainingConfig(epochs=4, learning_rate=0.4, warmup_epochs=1, decay="linear")
    rates = [learning_rate(step, 10, config) for step in range(41)]
    assert rates[:11] == pytest.approx([*(0.04 * n for n in range(1, 11)), 0.4])
    assert rates[10:] == pytest.approx([0.4 * n / 30 for n in range(30, -1, -1)], abs=1e-15)


@given(st.integers(2, 500), st.floats(0.001, 0.999))
def test_retraining_leaves_epochs_on_both_sides(epochs, fraction):
    assert 1 <= retraining_epochs(epochs, fraction) < epochs
    assert abs(retraining_epochs(epochs, fraction) - fraction * epochs) <= 1


def test_retraining_takes_two_thirds():
    assert [retraining_epochs(epochs) for epochs in (3, 24, 300)] == [2, 16, 200]
    for arguments in ((24, -0.1), (24, 1), (24, math.nan), (1, 0.5)):
        with pytest.raises(PascalError, match=r"fraction|epochs"):
            retraining_epochs(*arguments)
    assert retraining_epochs(1, 0) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"epochs": 2.5},
        {"epochs": True},
        {"learning_rate": 0.0},
        {"learning_rate": math.nan},
        {"learning_rate": "0.1"},
        {"momentum": 1.0},
        {"weight_decay": -1e-4},
        {"label_smoothing": 1.0},
        {"average": 1.0},
        {"decay": "steps"},
        {"nesterov": True, "momentum": 0.0},
        {"warmup_epochs": -1},
        {"warmup_epochs": 300},
        {"threshold_limit": math.inf},
        {"checkpoint_steps": 0},
        {"selection": "test"},
        {"seed": -1},
    ],
)
def test_bad_configurations_are_named(wrong):
    (key, value) = next(iter(wrong.items()))
    with pytest.raises(PascalError, match=f"{key}: got {value!r}"):
        TrainingConfig(**wrong)
