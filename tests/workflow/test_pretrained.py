"""A ReLU network that others trained goes through the whole pipeline with a calibration in the place of training."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import torch

import pascal
from pascal.files import read_tensors
from tests.workflow.workspace import Workspace

MINE = "mine.pth"


@pytest.fixture
def pretrained(untouched: Workspace, tmp_path: Path) -> Workspace:
    """A workspace with one run, of weights with names of their own."""
    workspace = untouched.copy(tmp_path / "workspace")
    params = workspace.params()
    plain = params["runs"]["plain"]
    torch.manual_seed(0)
    network = pascal.build_network(plain["network"], width=plain["width"])
    state = {f"module.theirs.{name}": value for name, value in network.state_dict().items() if "act" not in name}
    torch.save({"state_dict": state, "epoch": 3}, workspace.path / MINE)
    params["runs"] = {"mine": plain | {"weights": MINE, "calibrate": {"method": "ridge", "images": 64}}}
    workspace.write_params(params)
    return workspace


def _result(workspace: Workspace, name: str) -> Any:
    return json.loads((workspace.path / f"results/mine/0/{name}.json").read_text())


@pytest.mark.pipeline
@pytest.mark.slow
def test_from_checkpoint_to_report_without_training(pretrained: Workspace) -> None:
    ran = pretrained.snakemake("all").check()
    assert ran.jobs["calibrate"] == 1
    assert not {"train", "retrain", "finetune"} & set(ran.jobs)
    certificate, accuracy = _result(pretrained, "verify"), _result(pretrained, "accuracy")
    assert certificate["count_mismatches"] == certificate["prediction_mismatches"] == 0
    assert accuracy["prediction_mismatches"] == 0
    with (pretrained.path / "results/mine/0/calibration.csv").open() as file:
        layers = list(csv.DictReader(file))
    assert [layer["path"] for layer in layers][-1] == "readout"
    assert all(float(layer["after"]) < float(layer["before"]) for layer in layers[:3])
    assert not any("running_mean" in name for name in read_tensors(pretrained.path / "results/mine/0/ann.safetensors"))
    assert (pretrained.path / "results/figures/mine/calibration.png").exists()
    assert not pretrained.snakemake("all").check().jobs
    pretrained.set("runs", "mine", "calibrate", "method", "mse")
    again = pretrained.snakemake("results/mine/0/verify.json").check()
    assert again.jobs == {"calibrate": 1, "convert": 1, "verify": 1}


def test_weights_of_another_network_are_named(pretrained: Workspace) -> None:
    torch.save({"w": torch.ones(2, 2)}, pretrained.path / MINE)
    ran = pretrained.snakemake("results/mine/0/ann.safetensors")
    assert ran.code != 0
    assert f"runs.mine.weights: {MINE}: the network's" in ran.text, ran.text
