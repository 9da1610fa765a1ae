"""The pipeline on a real Slurm cluster of one node: same bytes, retries, kills, Ctrl-C, several tasks."""

import csv
import signal
from pathlib import Path

import pytest

from tests.cluster.queue import Queue, start, wait_for, wait_for_checkpoint
from tests.workflow.workspace import Workspace

pytestmark = [pytest.mark.pipeline, pytest.mark.cluster, pytest.mark.xdist_group("cluster")]

ANN, CURVE, LOG = "results/plain/0/ann.safetensors", "results/plain/0/train.csv", "logs/train/plain-0.log"
_FAILS_ONCE = """
from pathlib import Path as _Path

if not _Path("failed-once").exists():
    _Path("failed-once").touch()
    raise SystemExit("this machine has a bad day")
"""


@pytest.fixture(scope="module")
def trained(prepared: Workspace, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a training without Slurm and without interruption gives."""
    workspace = prepared.copy(tmp_path_factory.mktemp("trained") / "workspace")
    workspace.snakemake(ANN, cores=1).check()
    return workspace.results()


@pytest.fixture
def workspace(prepared: Workspace, tmp_path: Path) -> Workspace:
    return prepared.copy(tmp_path / "workspace")


def _first_epoch_was_before(workspace: Workspace) -> bool:
    """Whether the last attempt went on from a checkpoint; its log begins anew."""
    log = (workspace.path / LOG).read_text()
    return "epoch 30/30: " in log and "epoch 1/30: " not in log


def test_all_results_have_the_bytes_of_this_machine_and_a_failed_job_is_retried(
    untouched: Workspace, computed: Workspace, queue: Queue, tmp_path: Path
) -> None:
    workspace = untouched.copy(tmp_path / "workspace")
    script = workspace.path / "workflow/scripts/convert.py"
    head, *rest = script.read_text().partition("\nfrom ")
    script.write_text("".join([head, _FAILS_ONCE, *rest]))
    ran = start(workspace, "all").end().check()
    assert "Trying to restart" in ran.text
    assert workspace.results() == computed.results()
    assert not workspace.snakemake("all").check().jobs  # what the cluster made is current here


def test_a_killed_training_goes_on_from_its_checkpoint_with_more_memory(
    workspace: Workspace, trained: dict[str, str], queue: Queue
) -> None:
    running = start(workspace, ANN)
    job = wait_for_checkpoint(workspace, queue)
    queue.kill(job)
    running.end().check()
    memory = queue.memory()
    assert (memory[int(job)], memory[max(memory)]) == ("1750M", "3500M")
    assert _first_epoch_was_before(workspace)
    assert workspace.results() == trained


def test_a_cancelled_training_goes_on_with_the_same_command(
    workspace: Workspace, trained: dict[str, str], queue: Queue
) -> None:
    running = start(workspace, "--retries", "0", ANN)
    queue.cancel(wait_for_checkpoint(workspace, queue))
    assert running.end().code == 1
    assert not (workspace.path / ANN).exists()
    start(workspace, "--retries", "0", ANN).end().check()
    assert _first_epoch_was_before(workspace)
    assert workspace.results() == trained


def test_ctrl_c_cancels_the_jobs(workspace: Workspace, queue: Queue) -> None:
    running = start(workspace, ANN)
    wait_for("a job", lambda: bool(queue.jobs("RUNNING")))
    running.process.send_signal(signal.SIGINT)
    assert running.end().code != 0
    wait_for("an empty queue", lambda: not queue.jobs("PENDING", "RUNNING", "COMPLETING"))
    assert not (workspace.path / ANN).exists()


def test_two_tasks_of_slurm_train_as_one_process(workspace: Workspace, computed: Workspace, queue: Queue) -> None:
    workspace.set("defaults", "train", "epochs", 3)
    workspace.set("defaults", "train", "processes", 2)
    tasks = ("train:tasks=2", "train:mpi=srun", "train:cpus_per_task=1")
    start(workspace, "--set-resources", *tasks, "--", CURVE).end().check()
    alone, together = _losses(computed), _losses(workspace)
    # Batch norm sees 16 images in each of two processes, 32 in one, so that curves come close and no closer.
    assert together == pytest.approx(alone, rel=0.1)
    assert together != alone


def _losses(workspace: Workspace) -> list[float]:
    with (workspace.path / CURVE).open() as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]
