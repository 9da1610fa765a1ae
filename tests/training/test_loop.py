"""The loop: it learns, yields what happened, and goes through Algorithm 4 on one schedule."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from pascal.errors import PascalError
from pascal.training import evaluate, load_state, save_state, train, weights
from tests.own_process import in_own_process
from tests.training.toy import CONFIG, FrozenBatchNorm, ToyBatches, toy_network


def trained(network=None, config=CONFIG, **arguments):
    network = network or toy_network()
    return network, list(train(network, ToyBatches(), config, bar=False, **arguments))


def same_weights(one, other) -> bool:
    return all(torch.equal(tensor, weights(other)[name]) for name, tensor in weights(one).items())


def test_it_learns_and_says_so():
    network, records = trained(config=replace(CONFIG, epochs=12), validation=ToyBatches())
    assert [record.epoch for record in records] == list(range(1, 13))
    assert records[-1].loss < 0.6 * records[0].loss
    assert records[-1].validation_accuracy > 0.85
    assert records[-1].validation_accuracy == evaluate(network, ToyBatches()).accuracy
    assert 0 < records[0].threshold_min <= records[0].threshold_max
    assert records[-1].learning_rate < 0.01 * records[0].learning_rate
    assert all(record.seconds > 0 for record in records)


def test_the_first_step_is_plain_sgd():
    """Weights against the update written out: w − lr·(∇ + wd·w), thresholds alike through θ = raw above 0.2."""
    network, reference = toy_network(), toy_network()
    config = replace(CONFIG, epochs=1, momentum=0.0, weight_decay=0.01, channels_last=False)
    network[8] = reference[8] = nn.Identity()  # no dropout
    list(train(network, ToyBatches(steps=1), config, bar=False))
    images, labels = next(ToyBatches(steps=1).epoch(0))
    nn.functional.cross_entropy(reference.train()(images), labels).backward()
    for (name, updated), parameter in zip(network.named_parameters(), reference.parameters(), strict=True):
        expected = parameter - config.learning_rate * (parameter.grad + config.weight_decay * parameter)
        torch.testing.assert_close(updated, expected, rtol=1e-5, atol=1e-7, msg=name)


def test_dropout_follows_the_seed_and_the_callers_generator_stays():
    one, other = toy_network(), toy_network()
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    trained(one)
    assert torch.equal(before, torch.random.get_rng_state())
    torch.manual_seed(123)
    trained(other)
    assert same_weights(one, other)
    assert not same_weights(one, trained(config=replace(CONFIG, seed=6))[0])


class Drawing(nn.Linear):
    """A layer that notes the random number it draws, as dropout would draw it."""

    drawn: list[float]

    def forward(self, images):
        self.drawn.append(torch.rand(()).item())
        return super().forward(images)


def test_every_step_draws_its_own_numbers_wherever_training_starts():
    def drawn(state=None, until=None, save=None):
        network = nn.Sequential(nn.Flatten(), Drawing(192, 3))
        network[1].drawn = []
        trained(network, state=state, until=until, save=save)
        return network[1].drawn

    states = []
    whole = drawn()
    assert len(set(whole)) == len(whole) == 48
    assert drawn(until=2, save=states.append) + drawn(state=states[-1]) == whole


@pytest.mark.parametrize("epoch", [1, 4])
def test_the_retrained_state_is_trains_own_at_that_epoch(epoch, tmp_path):
    """Algorithm 4, line 3: with the same seed and schedule, retraining to p repeats `train` byte for byte."""

    def keep(folder):
        def save(state):
            save_state(tmp_path / folder / f"{state.step}.safetensors", state)

        return save

    trained(save=keep("train"), validation=ToyBatches())
    trained(save=keep("retrain"), validation=ToyBatches(), until=epoch)
    name = f"{epoch * 8}.safetensors"
    assert (tmp_path / "train" / name).read_bytes() == (tmp_path / "retrain" / name).read_bytes()
    assert not (tmp_path / "retrain" / f"{epoch * 8 + 8}.safetensors").exists()


def test_finetuning_goes_on_with_other_levels_on_the_same_schedule(tmp_path):
    """Algorithm 4, line 4: weights, momenta and step from the state; levels are those the network comes with."""
    trained(save=lambda state: save_state(tmp_path / "state", state), until=4)
    network = toy_network(seed=77)
    network[2].levels, network[5].levels = 2, 1
    _, records = trained(network, state=load_state(tmp_path / "state"))
    assert [record.epoch for record in records] == [5, 6]
    assert (network[2].levels, network[5].levels) == (2, 1)
    whole = trained()[1]
    assert [r.learning_rate for r in records] == [r.learning_rate for r in whole[4:]]
    assert records[0].loss != whole[4].loss
    unchanged, same = trained(toy_network(seed=77), state=load_state(tmp_path / "state"))
    assert [r.loss for r in same] == [r.loss for r in whole[4:]]
    assert same_weights(unchanged, trained()[0])


class Worsening(ToyBatches):
    """Validation images whose labels turn wrong after three epochs."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "passes", [0])

    def __iter__(self):
        self.passes[0] += 1
        wrong = self.passes[0] > 3
        return ((images, (labels + wrong) % 3) for images, labels in self.epoch(1000))


def test_best_validation_can_be_selected():
    network, records = trained(config=replace(CONFIG, selection="best"), validation=Worsening())
    best = max(records, key=lambda record: record.validation_accuracy).epoch
    assert best <= 3
    assert same_weights(network, trained(until=best, config=replace(CONFIG, selection="last"))[0])
    assert not same_weights(network, trained()[0])


def test_the_best_epoch_survives_a_stop_but_not_a_change_of_levels():
    config, states = replace(CONFIG, selection="best"), []
    whole, _ = trained(config=config, validation=Worsening(), save=states.append)
    middle = next(state for state in states if state.step == 32)

    late = Worsening()
    late.passes[0] = 4
    resumed, _ = trained(toy_network(1), config=config, validation=late, state=middle)
    assert same_weights(whole, resumed)

    late.passes[0] = 4
    other = toy_network(1, levels=2)
    trained(other, config=config, validation=late, state=middle)
    assert other[2].levels == 2


def test_a_training_until_epoch_0_is_the_network_as_it_came():
    came, states = toy_network(1), []
    trained(came, until=0, save=states.append)
    assert [state.step for state in states] == [0]
    whole, resumed = toy_network(1), toy_network(2)
    trained(whole)
    trained(resumed, state=states[0])
    assert same_weights(whole, resumed)


def test_nothing_to_select_by_is_told():
    with pytest.raises(PascalError, match="selection: got 'best' without validation"):
        trained(config=replace(CONFIG, selection="best"))
    for until in (-1, 7):
        with pytest.raises(PascalError, match=f"until: got epoch {until}"):
            trained(until=until)


def test_without_validation_its_accuracy_is_no_number():
    assert math.isnan(trained(until=1)[1][0].validation_accuracy)


@pytest.mark.parametrize("option", [{"label_smoothing": 0.1}, {"mixed_precision": True}, {"channels_last": False}])
def test_options_train_too(option):
    network, records = trained(config=replace(CONFIG, epochs=12, **option), validation=ToyBatches())
    assert records[-1].validation_accuracy > 0.8
    assert network[0].weight.dtype == torch.float32


@pytest.mark.slow
def test_a_compiled_network_takes_the_same_steps():
    """Without dropout, which compiled code draws in its own way; float32 sums in another order."""
    assert in_own_process(_losses, True) == pytest.approx(_losses(False), rel=1e-4)


def _losses(compiled):
    network, config = toy_network(norm=FrozenBatchNorm), replace(CONFIG, epochs=3, compile=compiled)
    return [record.loss for record in train(network, ToyBatches(steps=1), config, bar=False)]


class FlatBatches(ToyBatches):
    def epoch(self, epoch, start=0):
        return ((images.flatten(1), labels) for images, labels in super().epoch(epoch, start))


def test_inputs_need_not_be_images():
    records = list(train(nn.Linear(192, 3), FlatBatches(), CONFIG, validation=FlatBatches(), bar=False))
    assert records[-1].loss < records[0].loss


def test_networks_without_thresholds_train():
    network = nn.Sequential(nn.Flatten(), nn.Linear(192, 3))
    _, records = trained(network)
    assert math.isnan(records[-1].threshold_max)
    assert records[-1].loss < records[0].loss
