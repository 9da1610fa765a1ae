"""Weights trained elsewhere enter as they are, at line 2 of Algorithm 4; those that do not fit are named and kept."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from tests.workflow.workspace import Workspace

MINE = "mine.safetensors"


@pytest.fixture
def bringing(computed: Workspace, tmp_path: Path) -> Workspace:
    """A workspace with the weights of `plain` in a file of the user's, a run of them and one that adapts them."""
    workspace = computed.copy(tmp_path / "workspace")
    (workspace.path / MINE).write_bytes((workspace.path / "results/plain/0/ann.safetensors").read_bytes())
    params = workspace.params()
    given = {"weights": MINE, "train": {"epochs": 0}}
    params["defaults"]["train"]["warmup_epochs"] = 1  # of no meaning to a run that trains nothing
    params["runs"]["plain"]["train"] = {"warmup_epochs": 0}
    params["runs"] |= {
        "own": params["runs"]["plain"] | given,
        "own-al": {"from": "own", "adapt": {"p": 0, "values": [4, 2, 1]}, "train": {"epochs": 2}},
    }
    workspace.write_params(params)
    return workspace


def _result(workspace: Workspace, run: str, name: str) -> Any:
    return json.loads((workspace.path / f"results/{run}/0/{name}.json").read_text())


@pytest.mark.slow
def test_own_weights_enter_as_they_are(bringing: Workspace) -> None:
    files = [f"results/{run}/0/{name}.json" for run in ("own", "own-al") for name in ("accuracy", "verify", "levels")]
    bringing.snakemake(*files).check()
    assert _result(bringing, "own", "accuracy") == _result(bringing, "plain", "accuracy")
    assert _result(bringing, "own", "levels") == _result(bringing, "plain", "levels")
    assert sorted(set(_result(bringing, "own-al", "levels").values())) == [1, 2, 4]
    assert _result(bringing, "own-al", "verify")["count_mismatches"] == 0
    assert _result(bringing, "own-al", "accuracy") != _result(bringing, "own", "accuracy")


def _other_levels(workspace: Workspace) -> None:
    workspace.set("runs", "own", "levels", 2)


def _other_network(workspace: Workspace) -> None:
    tensors = load((workspace.path / MINE).read_bytes())
    tensors.pop(next(name for name in tensors if name.endswith(".weight")))
    (workspace.path / MINE).write_bytes(save(tensors))


def _pickled(workspace: Workspace) -> None:
    torch.save({"weight": torch.ones(2)}, workspace.path / MINE)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_other_levels, ["runs.own.levels: got 2, expected 4", MINE, "adapt.levels"]),
        (_other_network, [f"runs.own.weights: got {MINE}", "expected weights of the run's network", "Missing key"]),
        (_pickled, [f"runs.own.weights: got {MINE!r}", "expected a whole safetensors file"]),
    ],
)
def test_weights_that_do_not_fit_stay_where_they_are(bringing: Workspace, spoil: Any, words: list[str]) -> None:
    spoil(bringing)
    before = (bringing.path / MINE).read_bytes()
    ran = bringing.snakemake("results/own/0/ann.safetensors")
    assert ran.code != 0
    assert all(word in ran.text for word in words), ran.text
    assert (bringing.path / MINE).read_bytes() == before
