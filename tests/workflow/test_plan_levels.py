"""Levels by a plan, and what may follow a change of levels: nothing, a gentle training, Algorithm 4's."""

import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load

from tests.workflow.workspace import Workspace

RUNS = {
    "planned": {"method": "plan", "budget": "metric", "finetune": "none"},
    "gentle": {"method": "plan", "budget": "metric", "finetune": "gentle", "gentle": {"steps": 3}},
    "whole": {"method": "plan", "budget": 0.5, "cost": "synops"},
    "chance": {"method": "random", "finetune": "none"},
}


def _json(workspace: Workspace, run: str, name: str) -> Any:
    return json.loads((workspace.path / f"results/{run}/0/{name}.json").read_text())


@pytest.mark.slow
def test_plans_and_what_follows_them(computed: Workspace, tmp_path: Path) -> None:
    workspace = computed.copy(tmp_path / "workspace")
    params = workspace.params()
    params["runs"] |= {name: {"from": "plain", "adapt": adapt} for name, adapt in RUNS.items()}
    workspace.write_params(params)
    ran = workspace.snakemake(*(f"results/{run}/0/ann.safetensors" for run in RUNS), "results/figures/planned/plan.png")
    assert ran.check().jobs["retrain"] == 1  # of `whole` alone; the others go on from the end of their start's training

    by_metric = sum(_json(workspace, "adaptive", "levels").values())
    for run in ("planned", "gentle"):
        plan = _json(workspace, run, "plan")
        assert plan["cost"] == sum(_json(workspace, run, "levels").values()) <= by_metric == plan["budget"]
    whole = _json(workspace, "whole", "plan")
    assert whole["cost"] <= 0.5 * whole["start_cost"]
    assert sorted(_json(workspace, "chance", "levels").values()) == sorted(
        _json(workspace, "adaptive", "levels").values()
    )

    for run, adapt in RUNS.items():
        compared = _json(workspace, run, "finetune")
        assert (compared["method"], compared["validation_images"]) == (adapt["method"], 1309)
        accuracies = [compared["before_accuracy"], compared["after_accuracy"]]
        assert (accuracies[1] is None) == (adapt.get("finetune") == "none")
        better = accuracies[1] is not None and accuracies[1] >= accuracies[0]
        assert compared["kept"] == ("after" if better else "before")
    _thresholds_follow_the_plan(workspace)
    rows = (workspace.path / "results/gentle/0/train.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["1", "2", "3", "4"]  # the start's three epochs, then its own


def _thresholds_follow_the_plan(workspace: Workspace) -> None:
    start, planned = (
        load((workspace.path / f"results/{run}/0/ann.safetensors").read_bytes()) for run in ("plain", "planned")
    )
    scales = {row["layer"]: row["threshold_scale"] for row in _json(workspace, "planned", "plan")["layers"]}
    assert any(scale != 1 for scale in scales.values())
    for layer, scale in scales.items():
        name = f"{layer}.raw_threshold"
        assert (planned[name] == start[name]).all() == (scale == 1)
    weights = [name for name in start if not name.endswith(("raw_threshold", "_extra_state"))]
    assert all((planned[name] == start[name]).all() for name in weights)
