"""The pipeline as people call it: plans, pages, MLflow, DVC's views, and names that must agree with the package."""

import json
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from pascal import build_network, get_levels
from pascal.pipeline import dvc
from pascal.pipeline.manifest import STAGES, files_of, outputs
from pascal.pipeline.parameters.networks import LAYERS
from pascal.report.registry import KINDS, plans
from tests.workflow.workspace import ROOT, Workspace


def test_layer_counts_agree_with_the_networks() -> None:
    assert {name: len(get_levels(build_network(name, width=0.125))) for name in LAYERS} == LAYERS


def test_dvc_yaml_is_the_one_that_the_manifest_gives() -> None:
    assert (ROOT / "dvc.yaml").read_text() == dvc.text(), "run python -m pascal.pipeline.dvc"


def test_every_file_that_a_plan_names_is_one_of_a_stage() -> None:
    known = {name for kind in KINDS for name in files_of(kind)}
    for plan in (*plans("tables").values(), *plans("figures").values()):
        assert set(plan.files) <= known, plan.name
    paths = [file.path for file in files_of("derived").values()]
    assert (
        len(paths) == len(set(paths)) == sum(len(stage.files) for stage in STAGES.values() if "derived" in stage.kinds)
    )


def test_a_run_leaves_the_files_of_the_manifest_and_no_other(computed: Workspace) -> None:
    for run, kind in (("plain", "uniform"), ("adaptive", "derived")):
        home, files = computed.path / "results" / run / "0", files_of(kind)
        assert {path.name for path in home.iterdir()} == {file.path for file in files.values()} | {"records"}
        for file in files.values():
            if file.columns:
                assert set(file.columns) <= set(pd.read_csv(home / file.path).columns), file.path
            if file.keys:
                assert set(file.keys) <= json.loads((home / file.path).read_text()).keys(), file.path
        figures = {path.stem for path in (computed.path / "results/figures" / run).iterdir()}
        assert figures - {"records"} == {Path(stem).name for stem in outputs("figures", run, kind)}


def test_paper_is_planned_completely(untouched: Workspace) -> None:
    ran = untouched.snakemake("all", "--dry-run", "--configfile", "workflow/presets/paper.yaml").check()
    counts = dict(
        line.split() for line in ran.text.splitlines() if len(line.split()) == 2 and line.split()[1].isdigit()
    )
    assert (counts["train"], counts["finetune"], counts["histogram"], counts["evaluate"]) == ("9", "22", "31", "31")


def test_bad_parameters_stop_before_any_job(untouched: Workspace, tmp_path: Path) -> None:
    workspace = untouched.copy(tmp_path / "workspace")
    workspace.set("runs", "plain", "levels", 0)
    ran = workspace.snakemake("all")
    assert ran.code != 0
    assert "runs.plain.levels: got 0, expected a whole number >= 1" in ran.text
    assert not ran.jobs
    assert not (workspace.path / "results").exists()


def test_parameters_on_the_command_line_are_refused_not_ignored(untouched: Workspace) -> None:
    ran = untouched.snakemake("all", "--dry-run", "--config", "epochs=1")
    assert ran.code != 0
    assert "--config epochs=1: parameters come from a file alone; edit params.yaml" in ran.text


def test_lint_is_clean(untouched: Workspace) -> None:
    assert "good condition" in untouched.snakemake("--lint").check().text


def test_report_page_is_made_offline(workspace: Workspace) -> None:
    workspace.snakemake("--report", "report.html").check()
    page = (workspace.path / "report.html").read_text()
    assert "accuracy.csv" in page
    assert "pareto_t_eff.png" in page


def test_pruned_weights_meet_fewer_spikes(computed: Workspace, tmp_path: Path) -> None:
    workspace = computed.copy(tmp_path / "workspace")
    file = "results/plain/0/hardware.csv"
    before = pd.read_csv(workspace.path / file)
    workspace.set("defaults", "hardware", "weight_density", 0.1)
    assert set(workspace.snakemake(file).check().jobs) == {"hardware"}
    after = pd.read_csv(workspace.path / file)
    assert (after.joint_density < 0.3 * before.joint_density).all()
    assert (after.dram_bit < before.dram_bit).all()
    assert set(after.weight_density) == {0.1}


def test_ablation_stands_beside_the_original_in_mlflow(workspace: Workspace) -> None:
    query = "select value from tags where key='mlflow.runName' and (value like 'plain%' or value like 'adaptive%')"
    database = workspace.path / "results/mlflow.db"
    assert sorted(_rows(database, query)) == ["adaptive", "plain"]
    workspace.snakemake("--forcerun", "track", "track").check()
    assert sorted(_rows(database, query)) == ["adaptive", "plain"]
    workspace.set("defaults", "energy", "int8", "add_pj", 0.04)
    workspace.snakemake("all").check()
    edited = "energy.int8.add_pj=0.04"
    assert sorted(_rows(database, query)) == ["adaptive", f"adaptive, {edited}", "plain", f"plain, {edited}"]
    steps = _rows(database, "select distinct step from metrics where key='loss'")
    assert sorted(steps) == [1, 2, 3]


def _rows(database: Path, query: str) -> list[object]:
    with sqlite3.connect(database) as connection:
        return [row[0] for row in connection.execute(query)]


def test_dvc_shows_metrics_and_parameters(workspace: Workspace) -> None:
    assert "snn_accuracy" in workspace.dvc("metrics", "show").check().text
    workspace.set("defaults", "train", "epochs", 4)
    assert "defaults.train.epochs" in workspace.dvc("params", "diff").check().text


@pytest.mark.slow
def test_dvc_experiment(workspace: Workspace) -> None:
    ran = workspace.dvc("exp", "run", "-S", "defaults.energy.fp32.add_pj=0.7").check()
    assert set(ran.jobs) == {"energy", "tables", "figures", "run_figures", "track"}
    assert "0.7" in workspace.dvc("exp", "show", "--csv").check().text


@pytest.mark.slow
def test_eight_cores_and_a_fresh_database(untouched: Workspace, computed: Workspace, tmp_path: Path) -> None:
    """Two runs with two seeds side by side give the bytes of one job after another, and MLflow holds all of them."""
    parallel, serial = untouched.copy(tmp_path / "parallel"), computed.copy(tmp_path / "serial")
    for workspace, cores in ((parallel, 8), (serial, 1)):
        workspace.set("defaults", "seeds", [0, 1])
        workspace.snakemake("all", cores=cores).check()
    assert parallel.results() == serial.results()
    query = "select value from tags where key='mlflow.runName'"
    stages = ("train", "assign", "verify", "evaluate", "energy", "hardware", "compare")
    below = [f"{stage}, seed {seed}" for stage in stages for seed in (0, 1)]
    names = sorted(["plain", "adaptive", *below, *below])
    assert sorted(map(str, _rows(parallel.path / "results/mlflow.db", query))) == names


@pytest.mark.slow
def test_reused_state_is_that_of_retraining(workspace: Workspace) -> None:
    assert not list((workspace.path / "work/checkpoints").glob("*-until-*"))  # else it was trained again
    reused = (workspace.path / "work/retrain/adaptive/0.safetensors").read_bytes()
    workspace.set("defaults", "adapt", "reuse", False)
    assert set(workspace.snakemake("work/retrain/adaptive/0.safetensors").check().jobs) == {"retrain"}
    assert list((workspace.path / "work/checkpoints").glob("*-until-*"))
    assert (workspace.path / "work/retrain/adaptive/0.safetensors").read_bytes() == reused


@pytest.mark.slow
def test_a_run_added_later_still_reuses_the_training(untouched: Workspace, tmp_path: Path) -> None:
    workspace, state = untouched.copy(tmp_path / "workspace"), "work/retrain/adaptive/0.safetensors"
    params = workspace.params()
    workspace.write_params(params | {"runs": {"plain": params["runs"]["plain"]}})
    workspace.snakemake("results/plain/0/ann.safetensors").check()
    workspace.write_params(params)
    assert set(workspace.snakemake(state).check().jobs) == {"retrain"}
    assert not list((workspace.path / "work/checkpoints").glob("*-until-*"))
