"""Several processes that train together inside one stage: torchrun starts them, and the first alone writes."""

import csv
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml

from pascal.pipeline import processes, training
from pascal.pipeline.parameters.file import load_params
from tests.workflow.workspace import Workspace, tiny_params

CURVE, ANN = "results/plain/0/train.csv", "results/plain/0/ann.safetensors"


@pytest.mark.slow
def test_two_processes_train_as_one(untouched: Workspace, tmp_path: Path) -> None:
    one, two = (untouched.copy(tmp_path / name) for name in ("one", "two"))
    two.set("defaults", "train", "processes", 2)
    ran = [workspace.snakemake(CURVE, ANN).check() for workspace in (one, two)]
    assert ran[0].jobs == ran[1].jobs == {"prepare": 1, "train": 1}
    assert _written(one) == _written(two)
    alone, together = _curve(one), _curve(two)
    assert [row["learning_rate"] for row in alone] == [row["learning_rate"] for row in together]
    # Batch norm sees 16 images in each of two processes, 32 in one, so that curves come close and no closer.
    assert [float(row["loss"]) for row in together] == pytest.approx([float(row["loss"]) for row in alone], rel=0.1)
    assert [row["loss"] for row in together] != [row["loss"] for row in alone]
    for workspace in (one, two):  # a line for each epoch, from one process
        log = (workspace.path / "logs/train/plain-0.log").read_text()
        assert [log.count(f"epoch {epoch}/3: ") for epoch in (1, 2, 3)] == [1, 1, 1]


def _written(workspace: Workspace) -> list[str]:
    """Results and states by name, whatever the digest in their path."""
    folders = [workspace.path / name for name in ("results", "work")]
    return sorted(path.name for folder in folders for path in folder.rglob("*") if path.is_file())


def _curve(workspace: Workspace) -> list[dict[str, str]]:
    with (workspace.path / CURVE).open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("number", "returns"), [(0, True), (1, False)])
def test_only_the_first_process_comes_back(
    number: int, returns: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def group(device: str):
        yield torch.device(device)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(training, "process_group", group)
    monkeypatch.setattr(training, "rank", lambda: number)
    monkeypatch.setattr(training, "train", lambda *arguments: iter(["an epoch"]))
    monkeypatch.setattr(training.Training, "_batches", lambda self, device: (None, None))
    params = SimpleNamespace(train=SimpleNamespace(processes=1), device="cpu")
    own = training.Training(params, None, None, torch.nn.Identity(), "key")  # type: ignore[arg-type]
    if returns:
        assert list(own.records("key")) == ["an epoch"]
    else:
        with pytest.raises(SystemExit) as ended:
            list(own.records("key"))
        assert ended.value.code is None


def test_a_job_turns_into_torchrun_once(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(
        processes, "os", SimpleNamespace(environ={}, execvp=lambda path, command: commands.append(command))
    )
    processes.launch(1)
    assert not commands
    processes.launch(3)
    assert commands == [
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=3", sys.argv[0]]
    ]
    processes.os.environ["LOCAL_RANK"] = "0"
    processes.launch(3)
    assert len(commands) == 1


def test_batches_that_cannot_be_shared_are_refused_before_any_job(tmp_path: Path) -> None:
    params = tiny_params()
    params["defaults"]["train"] |= {"batch_size": 32, "processes": 3}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params))
    with pytest.raises(
        ValueError, match=r"runs.plain.train.batch_size: got 32, expected a multiple of the 3 processes"
    ):
        load_params(tmp_path / "params.yaml")
