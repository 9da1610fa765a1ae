"""Snakemake and DVC on one set of stages: whatever one has made, the other finds up to date."""

import csv
import shutil
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.workspace import Workspace

REPORT = {"tables", "figures", "run_figures", "track"}
COSTS = {"workload", "energy", "hardware", "compare"}
CONVERSION = {"convert", "verify", "evaluate"}
TRAINING = {"train", "retrain", "finetune"}
EVERYTHING = {"prepare", "given", "histogram", "assign"} | TRAINING | CONVERSION | COSTS | REPORT


def test_dvc_recomputes_nothing_after_snakemake(completed: Workspace) -> None:
    assert completed.first_repro is not None
    assert "Running stage 'report'" in completed.first_repro.text
    assert not completed.first_repro.jobs
    assert not completed.snakemake("all").check().jobs


def test_snakemake_uses_the_profile(completed: Workspace) -> None:
    ran = completed.snakemake("all").check()
    assert "profile profiles/default" in ran.text
    assert "Nothing to be done" in ran.text


def test_fresh_snakemake_runs_every_rule(computed: Workspace) -> None:
    assert "Nothing to be done" in computed.snakemake("all").check().text
    logs = {path.name for path in (computed.path / "logs" / "times").iterdir()}
    assert {name.removesuffix(".tsv") for name in logs} == EVERYTHING


def test_late_parameter_by_dvc(workspace: Workspace) -> None:
    workspace.set("defaults", "energy", "fp32", "add_pj", 0.8)
    ran = workspace.dvc("repro").check()
    assert set(ran.jobs) == {"energy"} | REPORT
    assert not workspace.snakemake("all").check().jobs


def test_edited_energy_code_reruns_energy_and_report(workspace: Workspace) -> None:
    with open(workspace.path / "pascal/energy/operations.py", "a") as file:
        file.write("\nEDITED = True\n")
    assert set(workspace.snakemake("all").check().jobs) == {"energy"} | REPORT
    assert not workspace.dvc("repro").check().jobs


def test_edited_comments_and_readme_rerun_nothing(workspace: Workspace) -> None:
    for file, comment in (("pascal/training/loop.py", "\n# a remark\n"), ("README.md", "A remark.\n")):
        with open(workspace.path / file, "a") as opened:
            opened.write(comment)
    assert not workspace.snakemake("all").check().jobs


def test_edited_readme_is_nothing_to_dvc(workspace: Workspace) -> None:
    (workspace.path / "README.md").write_text("Another remark.\n")
    assert "Running stage" not in workspace.dvc("repro").check().text


def test_edited_neuron_reconverts_without_retraining(workspace: Workspace) -> None:
    with open(workspace.path / "pascal/neurons/pasc.py", "a") as file:
        file.write("\nEDITED = True\n")
    planned = workspace.snakemake("--dry-run", "all").check().text
    rules = {line.split()[-1].rstrip(":") for line in planned.splitlines() if line.startswith(("rule ", "localrule "))}
    assert "convert" in rules
    assert not rules & (TRAINING | {"histogram", "assign", "prepare"})


def test_deleted_outputs_come_back_by_checkout(workspace: Workspace) -> None:
    before = workspace.results()
    shutil.rmtree(workspace.path / "results" / "plain")
    shutil.rmtree(workspace.path / "results" / "tables")
    workspace.dvc("checkout").check()
    assert workspace.results() == before
    assert not workspace.snakemake("all").check().jobs


@pytest.mark.slow
def test_early_parameter_by_snakemake(workspace: Workspace) -> None:
    workspace.set("defaults", "train", "learning_rate", 0.02)
    assert set(workspace.snakemake("all").check().jobs) == EVERYTHING - {"prepare", "given"}
    assert not workspace.dvc("repro").check().jobs


@pytest.mark.slow
def test_dvc_finishes_what_snakemake_began(workspace: Workspace) -> None:
    workspace.set("defaults", "train", "learning_rate", 0.03)
    assert set(workspace.snakemake("results/plain/0/ann.safetensors").check().jobs) == {"train"}
    assert "train" not in workspace.dvc("repro").check().jobs
    for run in ("plain", "adaptive"):
        with open(workspace.path / "results" / run / "0" / "train.csv") as file:
            assert float(next(csv.DictReader(file))["learning_rate"]) <= 0.03
    assert not workspace.snakemake("all").check().jobs


def test_clone_pull_and_adopt(workspace: Workspace, tmp_path: Path) -> None:
    workspace.dvc("remote", "add", "-d", "local", str(tmp_path / "remote")).check()
    workspace.commit("remote")
    workspace.dvc("push").check()
    clone = Workspace(tmp_path / "clone")
    workspace.run("git", "clone", "-q", str(workspace.path), str(clone.path)).check()
    clone.dvc("pull").check()
    tracked = {name: digest for name, digest in workspace.results().items() if name in clone.results()}
    assert clone.results() == tracked
    clone.run("bash", "workflow/adopt").check()
    assert [path.name for path in (clone.path / "logs/times").iterdir()] == ["track.tsv"]  # the rest was only touched
    assert not clone.snakemake("all").check().jobs
    for litter in ("pascal/.ruff_cache/kept", "workflow/.ruff_cache/kept", "workflow/.adopt.swp", "pascal/a.py~"):
        (clone.path / litter).parent.mkdir(exist_ok=True)
        (clone.path / litter).touch()
    assert "Running stage" not in clone.dvc("repro").check().text


def test_adopt_refuses_results_that_do_not_fit_their_records(workspace: Workspace) -> None:
    (workspace.path / "results/plain/0/accuracy.json").write_text("{}\n")
    ran = workspace.run("bash", "workflow/adopt")
    assert ran.code != 0
    assert "results/plain/0/accuracy.json: other bytes than stage evaluate wrote" in ran.text


@pytest.mark.parametrize("name", ["x;touch F;:", "x';touch F;'", "../../x';touch F;'", "$(touch F)", "a`touch F`"])
def test_names_that_are_commands_reach_no_shell(untouched: Workspace, tmp_path: Path, name: str) -> None:
    workspace = untouched.copy(tmp_path / "workspace")
    params = workspace.params()
    params["runs"] = {name: params["runs"]["plain"], **params["runs"]}
    params["datasets"][name] = {"source": "digits"}
    workspace.write_params(params)
    ran = workspace.dvc("repro")
    assert ran.code != 0
    assert "expected letters, digits, - and _" in ran.text
    assert not list(tmp_path.rglob("F"))
    assert not (workspace.path / "results").exists()


def test_a_fresh_clone_is_planned_without_running_anything(untouched: Workspace, tmp_path: Path) -> None:
    clone = Workspace(tmp_path / "clone")
    untouched.run("git", "clone", "-q", str(untouched.path), str(clone.path)).check()
    planned = clone.dvc("repro", "--dry").check().text
    assert all(f"Running stage '{stage}'" in planned for stage in ("plan", "report", "run@plain-0", "figures@plain"))
    assert "run@adaptive-0" in clone.dvc("status").check().text
    assert not (clone.path / "results").exists()


OTHER = {"snakemake": "dvc", "dvc": "snakemake"}


def _make(workspace: Workspace, tool: str) -> Counter[str]:
    """Bring everything up to date by one of the tools; gives the rules that ran."""
    return (workspace.snakemake("all") if tool == "snakemake" else workspace.dvc("repro")).check().jobs


def _tracked(workspace: Workspace) -> set[str]:
    return set(workspace.dvc("list", ".", "-R", "--dvc-only").check().text.split())


@pytest.mark.slow
@pytest.mark.parametrize("tool", OTHER)
def test_added_run(workspace: Workspace, tool: str) -> None:
    before = set(workspace.results())
    workspace.set("runs", "hand", {"from": "plain", "adapt": {"levels": [4, 2, 1] * 5}})
    jobs = _make(workspace, tool)
    assert set(jobs) == {"given", "retrain", "finetune", "histogram"} | CONVERSION | COSTS | REPORT
    assert jobs["retrain"] == jobs["convert"] == 1 <= jobs["run_figures"]
    assert not _make(workspace, OTHER[tool])
    added = set(workspace.results()) - before
    assert all(name.startswith(("results/hand/0/", "results/figures/hand/", "results/metrics/hand.")) for name in added)
    assert added <= _tracked(workspace)


@pytest.mark.slow
@pytest.mark.parametrize("tool", OTHER)
def test_added_seed(workspace: Workspace, tool: str) -> None:
    before = set(workspace.results())
    workspace.set("defaults", "seeds", [0, 1])
    jobs = _make(workspace, tool)
    assert jobs["train"] == jobs["finetune"] == 1
    assert not _make(workspace, OTHER[tool])
    added = set(workspace.results()) - before
    assert {name.rpartition("/")[0] for name in added} == {"results/plain/1", "results/adaptive/1"}
    assert added <= _tracked(workspace)


@pytest.mark.parametrize("tool", OTHER)
def test_removed_run_is_gone_from_tables_and_figures(workspace: Workspace, tool: str) -> None:
    params, before = workspace.params(), workspace.results()
    del params["runs"]["adaptive"]
    workspace.write_params(params)
    assert set(_make(workspace, tool)) == REPORT - {"run_figures"}
    assert not _make(workspace, OTHER[tool])
    for table in (workspace.path / "results/tables").glob("*.csv"):
        assert "adaptive" not in set(pd.read_csv(table).get("run", ()))
    for figure in ("spikes", "timesteps", "pareto_t_eff", "pareto_energy"):
        assert workspace.results()[f"results/figures/{figure}.png"] != before[f"results/figures/{figure}.png"]
    assert not any("/adaptive/" in name for name in _tracked(workspace))
