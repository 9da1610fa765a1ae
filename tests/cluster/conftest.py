"""A Slurm cluster of one node for the tests that want one, and a workspace to run on it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.queue import Queue
from tests.workflow.conftest import computed, untouched  # noqa: F401 - the same tiny workspaces
from tests.workflow.workspace import Workspace

NODE = Path(__file__).with_name("node")
_NEEDED = ("slurmctld", "slurmd", "sbatch", "munged")


@pytest.fixture(scope="session")
def queue() -> Iterator[Queue]:
    """The queue of a cluster that is up."""
    if os.getuid():
        pytest.skip("a Slurm cluster of one's own needs root")
    if missing := [name for name in _NEEDED if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian: slurmctld slurmd slurm-client munge)")
    started = subprocess.run([NODE, "up"], capture_output=True, text=True, check=False)
    if started.returncode == 3:
        pytest.skip(started.stderr.strip())
    assert started.returncode == 0, started.stderr
    yield Queue()
    subprocess.run([NODE, "down"], check=True)


@pytest.fixture(scope="session")
def prepared(untouched: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:  # noqa: F811
    """A workspace with images at hand, and a training of some seconds ahead."""
    workspace = untouched.copy(tmp_path_factory.mktemp("prepared") / "workspace")
    workspace.set("defaults", "train", "epochs", 30)
    workspace.snakemake("results/data/digits.json", cores=1).check()
    return workspace
