"""A run's twin begins with the run's own weights and follows its schedule; only the activation differs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from benchmarks.studies import relu_twin
from pascal.data import load_dataset
from pascal.errors import PascalError
from pascal.networks import build_network
from pascal.neurons import QCFS
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.runs import Params

ROOT = Path(__file__).parents[1]


def test_the_twin_of_a_digits_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    few = ["--epochs", "1", "--images", "64", "--data", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["relu_twin", str(ROOT / "params.yaml"), "digits-vgg-l4", "twin.json", *few])
    relu_twin.main()
    record = json.loads((tmp_path / "twin.json").read_text())
    told = {name: record[name] for name in ("run", "network", "width", "training_images", "epochs", "test_images")}
    assert told == {
        "run": "digits-vgg-l4", "network": "vgg16", "width": 0.125,
        "training_images": 64, "epochs": 1, "test_images": 360,
    }  # fmt: skip
    assert [epoch["epoch"] for epoch in record["curve"]] == [1]
    assert 0 <= record["accuracy"] <= 1


def test_the_twin_begins_where_the_run_does() -> None:
    settings = relu_twin.settings_of(_params("params.yaml"), "digits-vgg-l4", None)
    twin = relu_twin.relu_network(settings, load_dataset("digits"), seed=3)
    torch.manual_seed(3)
    own = build_network("vgg16", 10, 32, 4, 0.125)
    begun = {name: value for name, value in own.named_parameters() if not name.endswith("raw_threshold")}
    assert begun.keys() == dict(twin.named_parameters()).keys()
    assert all(torch.equal(value, begun[name]) for name, value in twin.named_parameters())
    kinds = [type(module) for module in twin.modules()]
    assert QCFS not in kinds
    assert kinds.count(nn.ReLU) == 15


def test_other_data_are_another_training(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = relu_twin.settings_of(_params("params.yaml"), "digits-vgg-l4", None)
    options: list[dict[str, Any]] = [{}, {"seed": 7}, {"validation": 90}, {"mean": [0.1] * 3}, {"std": [0.9] * 3}]
    keys = [relu_twin.twin(settings, load_dataset("digits", **option), seed=0).key for option in options]
    assert keys[0] == relu_twin.twin(settings, load_dataset("digits"), seed=0).key
    keys.append(relu_twin.twin(settings, load_dataset("digits"), seed=1).key)
    monkeypatch.setattr(relu_twin, "code_stamp", lambda *parts: "edited")
    keys.append(relu_twin.twin(settings, load_dataset("digits"), seed=0).key)
    assert len({*keys}) == len(keys)


def test_weights_trained_elsewhere_have_no_twin() -> None:
    with pytest.raises(PascalError, match=r"run: got 'r20-l8', expected .* vgg-l4, resnet-l4"):
        relu_twin.settings_of(_params("workflow/presets/cifar10-small.yaml"), "r20-l8", None)


def _params(path: str) -> Params:
    return load_params(ROOT / path)
