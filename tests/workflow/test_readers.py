"""Readers of stage files: what is not whole is named and set aside, and the next command makes it anew."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from pascal.errors import PascalError
from pascal.pipeline.histograms import read_histograms
from pascal.pipeline.manifest import STAGES
from pascal.pipeline.rows import _content
from pascal.pipeline.stage import read_json, read_rows
from pascal.pipeline.training import _newest
from pascal.training import Checkpoint, load_state, save_state
from pascal.training.records import TrainingState

WHOLE = "layer,level,count\na,0,5\na,1,6\nb,0,7\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "layer,level\na,0\n",
        "layer,level,count\na,0\n",
        "layer,level,count\na,0,5,6\n",
        "layer,level,count\na,0,x\n",
        "layer,level,count\na,1,5\n",
        "layer,level,count\na,0,5\na,0,5\n",
        "layer,level,count\na,0,-1\n",
    ],
)
def test_a_damaged_histogram_is_named_and_set_aside(text: str, tmp_path: Path) -> None:
    path = tmp_path / "histogram.csv"
    path.write_text(text)
    with pytest.raises(PascalError, match=r"histogram.csv is damaged .* run the same command again"):
        read_histograms(path)
    assert not path.exists()
    path.write_text(WHOLE)
    assert read_histograms(path) == {"a": [5, 6], "b": [7]}


def test_a_table_without_rows_is_one(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("epoch,loss\n")  # of weights that are taken as they are
    assert read_rows(tmp_path / "train.csv", ["epoch"]) == []


@pytest.mark.parametrize(("stage", "name", "text"), [
    ("hardware", "rows", "preset,machine\nx,y\n"),
    ("hardware", "rows", ""),
    ("evaluate", "accuracy", "{}"),
    ("evaluate", "accuracy", '{"ann_accuracy": 0.5'),
    ("verify", "certificate", "[1]"),
])  # fmt: skip
def test_the_report_reads_what_the_manifest_promises(stage: str, name: str, text: str, tmp_path: Path) -> None:
    file = STAGES[stage].files[name]
    path = tmp_path / file.path
    path.write_text(text)
    with pytest.raises(PascalError, match=f"{file.path} is damaged"):
        _content(path, file)
    assert not path.exists()


def test_cut_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "digits.json").write_text('{"classes": ')
    with pytest.raises(PascalError, match=r"digits.json is damaged"):
        read_json(tmp_path / "digits.json")


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _one_number(content: bytes) -> bytes:
    tensors = load(content)
    tensors["weight"][0] += 1
    return save(tensors)


def _other_file(content: bytes) -> bytes:
    return save({"weight": torch.ones(3)})


@pytest.mark.parametrize("damage", [_cut, _one_number, _other_file, lambda content: b""])
def test_a_damaged_checkpoint_costs_its_steps_alone(damage: Any, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, "key")
    state = TrainingState(4, 2, {"weight": torch.arange(3.0)})
    checkpoint.save(state)
    file = tmp_path / "key/state.safetensors"
    assert torch.equal(load_state(file).tensors["weight"], torch.arange(3.0))
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(PascalError, match=r"state.safetensors"):
        checkpoint.load()
    assert _newest(checkpoint) is None
    assert _newest(checkpoint) is None  # nothing is found where it was
    assert file.with_name("state.safetensors.damaged").exists()


def test_equal_states_are_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        save_state(tmp_path / name, TrainingState(4, 2, {"weight": torch.arange(3.0)}))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
