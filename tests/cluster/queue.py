"""What Slurm's queue holds, and a pipeline that runs on it."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.documents import commands
from tests.workflow.workspace import Ran, Workspace

(COMMAND,) = (command.split()[:-1] for command in commands("cluster.md") if "profiles/slurm" in command)  # as told
_OFTEN = ("--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "5")  # one machine, small jobs
_PATIENCE = 1400


def wait_for(what: str, found: Callable[[], bool]) -> None:
    """Until something is so."""
    deadline = time.time() + _PATIENCE
    while not found():
        assert time.time() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


class Queue:
    """Jobs by state."""

    def jobs(self, *states: str) -> list[str]:
        """Numbers of the jobs in these states."""
        return self._ask("%i", *states)

    def memory(self) -> dict[int, str]:
        """What each job asked for, finished ones included."""
        return {int(job): memory for job, memory in (line.split() for line in self._ask("%i %m", "all"))}

    def kill(self, job: str) -> None:
        """As a machine that fails would: every process of a job at once."""
        listed = subprocess.run(["scontrol", "listpids", job], capture_output=True, text=True, check=True).stdout
        for number in re.findall(r"^(\d+)", listed, re.MULTILINE):
            os.kill(int(number), signal.SIGKILL)

    def cancel(self, job: str) -> None:
        """As a person or the cluster's rules would."""
        subprocess.run(["scancel", job], check=True)

    @staticmethod
    def _ask(form: str, *states: str) -> list[str]:
        command = ["squeue", "--noheader", f"--format={form}", f"--states={','.join(states)}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@dataclass
class Running:
    """A pipeline at work."""

    process: subprocess.Popen[str]
    log: Path

    def end(self) -> Ran:
        """What it said and how it ended."""
        code = self.process.wait(_PATIENCE)
        return Ran("snakemake", code, self.log.read_text())


def _hears_ctrl_c() -> None:
    """Also where the tests themselves run in the background, which is deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(workspace: Workspace, *arguments: str) -> Running:
    """The pipeline on Slurm."""
    log = workspace.path / "on-slurm.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [*COMMAND, *_OFTEN, *arguments],
            cwd=workspace.path,
            env=workspace.env(),
            stdout=output,
            stderr=output,
            preexec_fn=_hears_ctrl_c,
        )
    return Running(process, log)


def wait_for_checkpoint(workspace: Workspace, queue: Queue) -> str:
    """Until a training saved its state a few times, the first epoch behind it; gives the number of its job."""
    seen: set[int] = set()

    def saved() -> bool:
        with suppress(OSError):
            seen.update(
                path.stat().st_mtime_ns for path in (workspace.path / "work/checkpoints").rglob("*.safetensors")
            )
        return len(seen) > 3

    wait_for("checkpoints", saved)
    (job,) = queue.jobs("RUNNING")
    return job
