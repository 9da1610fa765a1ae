"""Processes around a stage: torchrun, into which its job turns to be several, and Snakemake, with which it ends."""

import os
import select
import socket
import sys
import threading
from collections.abc import Mapping

from pascal.errors import PascalError

_PLANNER = "PASCAL_PLANNER"


def announce_planner() -> None:
    """Tell the jobs which process asked for them."""
    os.environ[_PLANNER] = f"{os.getpid()}@{socket.gethostname()}"


def end_with_planner() -> None:
    """End when Snakemake does, however it ends: a restart must not find an orphan at work on the same files.

    Processes on other machines than Snakemake's end with their first, by torchrun and Slurm.
    """
    number, _, machine = os.environ.get(_PLANNER, "").partition("@")
    if machine == socket.gethostname() and hasattr(os, "pidfd_open"):
        try:
            planner = os.pidfd_open(int(number))
        except ProcessLookupError:
            os._exit(1)
        threading.Thread(target=_end_after, args=[planner], daemon=True).start()


def _end_after(process: int) -> None:
    select.select([process], [], [])
    os._exit(1)


def launched() -> bool:
    """Whether torchrun started this process."""
    return "LOCAL_RANK" in os.environ


def launch(processes: int) -> None:
    """Hand this job over to torchrun, unless it came from there; nothing of it must have been written yet.

    The script that Snakemake made holds the whole job, so that every process can read it again.
    """
    if processes == 1 or launched():
        return
    sys.stderr.flush()
    command = [*torchrun(processes, os.environ), sys.argv[0]]
    os.execvp(command[0], command)


def torchrun(processes: int, environment: Mapping[str, str]) -> list[str]:
    """The command that starts them: here, or through srun, a share in each task that Slurm gave to the job."""
    command, tasks = [sys.executable, "-m", "torch.distributed.run"], int(environment.get("SLURM_NTASKS", 1))
    if tasks == 1:
        return [*command, "--standalone", f"--nproc-per-node={processes}"]
    if processes % tasks:
        raise PascalError(
            f"train.processes: got {processes}, expected a multiple of the job's {tasks} tasks; "
            "change it, or `tasks` in the Slurm profile"
        )
    job = int(environment["SLURM_JOB_ID"])
    place = f"{environment['SLURMD_NODENAME']}:{20000 + job % 10000}"  # of the first machine: this runs there
    shares = [f"--nnodes={tasks}", f"--nproc-per-node={processes // tasks}"]
    meeting = ["--rdzv-backend=c10d", f"--rdzv-endpoint={place}", f"--rdzv-id={job}"]
    return ["srun", f"--ntasks={tasks}", "--kill-on-bad-exit=1", *command, *shares, *meeting]
