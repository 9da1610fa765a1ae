"""Killed at any moment and started again, a training ends with the same bytes."""

import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pascal.training import Checkpoint, train, weights
from tests.training.toy import CONFIG, SHORT, ToyBatches, toy_network, train_alone

COMMAND = [sys.executable, "-m", "tests.training.toy"]


def run_until_killed(folder: Path, steps: int, delay: float) -> bool:
    """Start the training, kill it some steps later; whether it finished before."""
    with subprocess.Popen(
        [*COMMAND, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for _ in range(steps):
            if not process.stdout.readline():
                break
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        _, error = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), error
    return (folder / "train.json").exists()


def killed_again_and_again(folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(kills):
        run_until_killed(folder, steps=chance.randint(4, 20), delay=chance.uniform(0, 0.02))
    subprocess.run([*COMMAND, str(folder)], check=True, capture_output=True)


def assert_same_result(one: Path, other: Path) -> None:
    for name in ("ann.safetensors", "train.json", "key/state.safetensors"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    subprocess.run([*COMMAND, str(folder)], check=True, capture_output=True)
    return folder


def test_two_kills_change_no_byte(uninterrupted, tmp_path):
    killed_again_and_again(tmp_path, kills=2, seed=1)
    assert_same_result(uninterrupted, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_kills_change_no_byte(uninterrupted, tmp_path, seed):
    killed_again_and_again(tmp_path, kills=6, seed=seed)
    assert_same_result(uninterrupted, tmp_path)


@pytest.mark.parametrize("config", [CONFIG, SHORT, replace(SHORT, selection="best")], ids=["paper", "short", "best"])
@pytest.mark.parametrize("stop", [1, 3, 7, 8, 9, 24])
def test_stopping_after_any_step_changes_no_bit(stop, config, tmp_path):
    """The same without processes: the data raise after `stop` steps, as a kill would."""

    class StopHereError(Exception):
        pass

    class Breaking(ToyBatches):
        def epoch(self, epoch, start=0):
            for step, batch in enumerate(super().epoch(epoch, start), epoch * len(self) + start):
                if step == stop:
                    raise StopHereError
                yield batch

    whole = toy_network()
    records = list(train(whole, ToyBatches(), config, validation=ToyBatches(), bar=False))
    checkpoint = Checkpoint(tmp_path, "key")
    with pytest.raises(StopHereError):
        list(train(toy_network(), Breaking(), config, validation=ToyBatches(), save=checkpoint.save, bar=False))
    resumed = toy_network(seed=99)  # its fresh weights must not matter
    again = list(train(resumed, ToyBatches(), config, checkpoint.load(), ToyBatches(), bar=False))
    if stop < config.checkpoint_steps:
        assert checkpoint.load() is None
        return
    assert all(torch.equal(tensor, weights(resumed)[name]) for name, tensor in weights(whole).items())
    assert [(r.epoch, r.loss, r.train_accuracy) for r in again] == [
        (r.epoch, r.loss, r.train_accuracy) for r in records
    ]


def test_a_finished_training_stays_finished(tmp_path):
    train_alone(tmp_path)
    first = (tmp_path / "ann.safetensors").read_bytes()
    train_alone(tmp_path)
    assert (tmp_path / "ann.safetensors").read_bytes() == first
