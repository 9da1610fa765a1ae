"""Kills, full disks, damaged files, a server that is down: the same command again completes, to the same bytes."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.workflow.kills import killed_again_and_again
from tests.workflow.workspace import Workspace

BIN = Path(sys.executable).parent
SNAKEMAKE = (str(BIN / "snakemake"), "--cores", "2")
DVC = (str(BIN / "dvc"), "repro")
LONG_STAGES = ("train", "finetune", "evaluate", "workload", "hardware", "tables")


def _start(workspace: Workspace, *command: str, limit_bytes: int | None = None) -> "subprocess.Popen[bytes]":
    def limit() -> None:
        if limit_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))

    with open(workspace.path / "started.log", "wb") as log:
        return subprocess.Popen(
            command,
            cwd=workspace.path,
            env=workspace.env(),
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=limit,
        )


def _printed(workspace: Workspace) -> str:
    return (workspace.path / "started.log").read_text(errors="replace")


@pytest.mark.slow
def test_killed_at_random_moments(untouched: Workspace, computed: Workspace, tmp_path: Path) -> None:
    """One workspace, killed again and again by both tools; `python -m tests.workflow.kills` goes on for longer."""
    workspace = untouched.copy(tmp_path / "workspace")
    kills = list(killed_again_and_again(workspace, 6, seed=1, rules=LONG_STAGES))
    assert {kill.rule for kill in kills} == set(LONG_STAGES)
    workspace.dvc("repro").check()
    assert not workspace.snakemake("all").check().jobs
    assert workspace.results() == computed.results()


@pytest.mark.slow
def test_killed_training_goes_on_from_its_checkpoint(untouched: Workspace, computed: Workspace, tmp_path: Path) -> None:
    workspace = untouched.copy(tmp_path / "workspace")
    target = "results/plain/0/ann.safetensors"
    kept = _kill_at_a_checkpoint(workspace, *SNAKEMAKE, target)
    workspace.snakemake(target).check()
    assert _checkpoints(workspace) == kept
    assert workspace.results()[target] == computed.results()[target]


@pytest.mark.slow
def test_killed_dvc_goes_on(untouched: Workspace, computed: Workspace, tmp_path: Path) -> None:
    workspace = untouched.copy(tmp_path / "workspace")
    kept = _kill_at_a_checkpoint(workspace, *DVC)
    workspace.dvc("repro").check()
    assert kept < _checkpoints(workspace)
    assert workspace.results() == computed.results()


def _kill_at_a_checkpoint(workspace: Workspace, *command: str) -> set[str]:
    process = _start(workspace, *command)
    while not _checkpoints(workspace):
        assert process.poll() is None, _printed(workspace)
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return _checkpoints(workspace)


def _checkpoints(workspace: Workspace) -> set[str]:
    return {path.parent.name for path in (workspace.path / "work/checkpoints").glob("*/state.safetensors")}


def test_a_damaged_state_is_named_and_trained_again(computed: Workspace, tmp_path: Path) -> None:
    workspace, target = computed.copy(tmp_path / "workspace"), "work/retrain/adaptive/0.safetensors"
    (kept,) = (workspace.path / "work/states").glob("*/*.safetensors")
    before = (workspace.path / target).read_bytes()
    assert before == kept.read_bytes()
    kept.write_bytes(before[:1000])
    (workspace.path / target).unlink()
    ran = workspace.snakemake(target)
    assert ran.code != 0
    assert f"{kept.relative_to(workspace.path)} is damaged" in ran.text
    workspace.snakemake(target).check()
    assert "no state was kept" in (workspace.path / "logs/retrain/adaptive-0.log").read_text()
    assert (workspace.path / target).read_bytes() == before


def test_damaged_weights_are_named_and_made_anew(workspace: Workspace) -> None:
    before = workspace.results()
    damaged = workspace.path / "results/plain/0/snn.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:1000])
    ran = workspace.snakemake("results/plain/0/verify.json").check()
    assert "results/plain/0/snn.safetensors: other bytes than stage convert wrote; it counts as missing" in ran.text
    assert set(ran.jobs) == {"convert", "verify"}
    assert workspace.results() == before


def test_full_disk_is_told_and_repaired(workspace: Workspace) -> None:
    before = workspace.results()
    target = "results/plain/0/snn.safetensors"
    (workspace.path / target).unlink()
    process = _start(
        workspace, *SNAKEMAKE, target, limit_bytes=400_000
    )  # a file may not grow beyond this, as on a full disk
    assert process.wait() != 0
    told = _printed(workspace)
    assert "convert:" in told
    assert "make room" in told
    workspace.snakemake(target).check()
    assert workspace.results() == before


def test_folder_without_permission_is_told_and_repaired(workspace: Workspace) -> None:
    before, home, target = workspace.results(), workspace.path / "results/plain/0", "results/plain/0/energy.csv"
    for file in ("energy.csv", "energy.json", "ratios.csv", "energy_sensitivity.csv"):
        (home / file).unlink()
    home.chmod(0o555)
    obeying = ("setpriv", "--bounding-set=-dac_override") if os.geteuid() == 0 else ()  # root may write anywhere
    ran = workspace.run(*obeying, *SNAKEMAKE, target)
    home.chmod(0o755)
    assert ran.code != 0
    assert "energy: [Errno 13] Permission denied" in ran.text
    assert "make room or the folder writable" in ran.text
    workspace.snakemake(target).check()
    assert workspace.results() == before


def test_results_survive_an_absent_server(workspace: Workspace) -> None:
    before = workspace.results()
    ran = workspace.snakemake("all", MLFLOW_TRACKING_URI="http://127.0.0.1:9")
    assert ran.code != 0
    assert "MLflow at http://127.0.0.1:9 does not answer" in ran.text
    assert "snakemake --cores 1 track" in ran.text
    assert workspace.results() == before
    (workspace.path / "results/mlflow.db").unlink()
    assert set(workspace.snakemake("track").check().jobs) == {"track"}
