"""Files that are whole or absent, and checkpoints that belong to their run."""

import json
import os
from dataclasses import replace

import pytest
import torch

from pascal.errors import PascalError
from pascal.files import read_tensors, write_tensors
from pascal.training import Checkpoint, load_state, save_state, train
from pascal.training.records import EpochRecord, TrainingState
from tests.training.toy import CONFIG, ToyBatches, toy_network


def some_state(step: int = 20, seconds: float = 1.5) -> TrainingState:
    records = tuple(EpochRecord(n, 0.5, 0.6, 0.7, 0.1, 1.0, 2.0, seconds) for n in range(1, step // 8 + 1))
    return TrainingState(step, 8, {"model/weight": torch.arange(6.0).reshape(2, 3)}, records, seconds)


def test_a_state_survives_the_disk(tmp_path):
    save_state(tmp_path / "state.safetensors", some_state())
    loaded = load_state(tmp_path / "state.safetensors")
    assert (loaded.step, loaded.steps_per_epoch) == (20, 8)
    assert torch.equal(loaded.tensors["model/weight"], some_state().tensors["model/weight"])


def test_bytes_of_a_state_do_not_depend_on_the_clock(tmp_path):
    for name, seconds in (("a", 1.0), ("b", 2.0)):
        save_state(tmp_path / name, some_state(seconds=seconds))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_checkpoint_remembers_its_records(tmp_path):
    checkpoint = Checkpoint(tmp_path, "key")
    assert checkpoint.load() is None
    checkpoint.save(some_state())
    assert checkpoint.load().records == some_state().records
    assert checkpoint.load().seconds == 1.5
    assert Checkpoint(tmp_path, "other").load() is None


@pytest.mark.parametrize("survivor", ["records.json", "state.safetensors"])
def test_a_kill_between_the_two_files_does_no_harm(tmp_path, monkeypatch, survivor):
    """os.replace stops working after the first file, or before it."""
    checkpoint, replace, left = Checkpoint(tmp_path, "key"), os.replace, [int(survivor == "records.json")]
    checkpoint.save(some_state(16))

    def killed(*paths):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return replace(*paths)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save(some_state(24))
    monkeypatch.undo()
    assert checkpoint.load().step == 16
    assert [record.epoch for record in checkpoint.load().records] == [1, 2]
    checkpoint.save(some_state(24))
    assert sorted(file.name for file in (tmp_path / "key").iterdir()) == ["records.json", "state.safetensors"]


def test_broken_files_are_named(tmp_path):
    checkpoint = Checkpoint(tmp_path, "key")
    checkpoint.save(some_state())
    state = tmp_path / "key" / "state.safetensors"
    state.write_bytes(state.read_bytes()[:-5])
    with pytest.raises(PascalError, match=r"state.safetensors: .*delete the file"):
        checkpoint.load()
    write_tensors(state, {"weight": torch.zeros(1)})
    with pytest.raises(PascalError, match="holds no training state"):
        checkpoint.load()
    checkpoint.save(some_state())
    (tmp_path / "key").rename(tmp_path / "moved")
    with pytest.raises(PascalError, match="belongs to run 'key', expected 'moved'"):
        Checkpoint(tmp_path, "moved").load()
    (tmp_path / "moved" / "records.json").write_text("{")
    with pytest.raises(PascalError, match=r"records.json: .*delete its folder"):
        Checkpoint(tmp_path, "moved").load()
    with pytest.raises(PascalError, match="there is no such file"):
        read_tensors(tmp_path / "absent.safetensors")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: [saved], r"got \[\{'key': 'key'.*, expected an object with key, seconds and records"),
        (lambda saved: {"key": "key", "seconds": 1.0}, "lacks 'records'"),
        (lambda saved: saved | {"seconds": None}, "NoneType"),
        (lambda saved: saved | {"records": [{"loss": 0.5}]}, "lacks 'epoch'"),
        (lambda saved: saved | {"records": [{"epoch": 1, "loss": 0.5}]}, "missing .*'train_accuracy'"),
        (lambda saved: saved | {"records": [{"epoch": 1, "lost": 0.5}]}, "unexpected .*'lost'"),
        (lambda saved: saved | {"records": [1]}, "not subscriptable"),
    ],
    ids=["a list", "no records", "no seconds", "no epoch", "a field too few", "an unknown field", "a number"],
)
def test_records_of_another_form_are_damaged_ones(tmp_path, change, message):
    checkpoint, path = Checkpoint(tmp_path, "key"), tmp_path / "key" / "records.json"
    checkpoint.save(some_state())
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(PascalError, match=rf"records.json: .*{message}.*; delete its folder, and training"):
        checkpoint.load()


def test_a_state_of_another_network_or_batch_size_is_refused():
    states = []
    list(train(toy_network(), ToyBatches(), CONFIG, until=1, save=states.append, bar=False))
    with pytest.raises(PascalError, match="has 8 steps per epoch, the batches have 4"):
        next(train(toy_network(), ToyBatches(steps=4), CONFIG, states[-1], bar=False))
    smaller = toy_network()[:6]
    with pytest.raises(PascalError, match=r"state and network disagree on \['9.bias', '9.weight'\]"):
        next(train(smaller, ToyBatches(), CONFIG, states[-1], bar=False))
    other = toy_network()
    other[9] = torch.nn.Linear(8, 4)
    with pytest.raises(PascalError, match="size mismatch"):
        next(train(other, ToyBatches(), CONFIG, states[-1], bar=False))


def test_every_saved_state_has_the_records_of_its_epochs():
    """Also where the interval divides the epoch: a state at its end without its record would lose the row."""
    states = []
    list(train(toy_network(), ToyBatches(), replace(CONFIG, checkpoint_steps=4), save=states.append, bar=False))
    assert [state.step for state in states] == list(range(4, 49, 4))
    assert all(len(state.records) == state.step // 8 for state in states)
    assert [state.tensors["tally"][2].item() for state in states] == [64, 0] * 6
