"""What Slurm is asked for, where no Slurm is needed to tell."""

import sys
from types import SimpleNamespace

import pytest
import yaml

from pascal.errors import PascalError
from pascal.pipeline import manifest, slurm
from pascal.pipeline.processes import torchrun
from tests.workflow.workspace import ROOT

_TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]


def test_short_figures_share_a_job_whatever_kinds_of_run_there_are() -> None:
    profile = yaml.safe_load((ROOT / "workflow/profiles/slurm/config.yaml").read_text())
    rules = {each.partition("=")[0] for each in profile["groups"]}
    kinds = set(manifest.run_figures("run")) - {manifest.KINDS}
    assert {f"run_figures_{'_'.join(kind)}" for kind in kinds} | {
        "run_figures",
        "tables",
        "figures",
        *manifest.STAGES,
    } >= rules
    assert {f"run_figures_{'_'.join(kind)}" for kind in kinds} | {"run_figures"} <= rules


@pytest.mark.parametrize(
    ("said", "kept", "asked"),
    [
        ("accounting_storage/slurmdbd", True, "sacct"),
        ("accounting_storage/none", False, "squeue"),
        ("(null)", False, "squeue"),
    ],
)
def test_jobs_are_asked_after_where_they_are_known(
    said: str, kept: bool, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = f"AccountingStorageHost   = localhost\nAccountingStorageType   = {said}\n"
    monkeypatch.setattr(slurm.subprocess, "run", lambda *command, **options: SimpleNamespace(stdout=config))
    assert slurm.accounting() is kept
    settings = SimpleNamespace(status_command="sacct")
    slurm.ask_who_knows(settings)
    assert settings.status_command == asked
    slurm.ask_who_knows(None)  # no executor of Slurm's


def test_each_task_of_a_job_has_its_share_of_the_processes() -> None:
    job = {"SLURM_NTASKS": "2", "SLURM_JOB_ID": "70012", "SLURMD_NODENAME": "first"}
    assert torchrun(8, {}) == [*_TORCHRUN, "--standalone", "--nproc-per-node=8"] == torchrun(8, {"SLURM_NTASKS": "1"})
    meeting = ["--rdzv-backend=c10d", "--rdzv-endpoint=first:20012", "--rdzv-id=70012"]
    shares = ["--nnodes=2", "--nproc-per-node=4"]
    assert torchrun(8, job) == ["srun", "--ntasks=2", "--kill-on-bad-exit=1", *_TORCHRUN, *shares, *meeting]
    with pytest.raises(PascalError, match=r"train.processes: got 3, expected a multiple of the job's 2 tasks; change"):
        torchrun(3, job)
