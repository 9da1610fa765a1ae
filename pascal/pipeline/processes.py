"""Processes around a stage: torchrun, into which its job turns to be several, and Snakemake, with which it ends."""

import os
import select
import sys
import threading

_PLANNER = "PASCAL_PLANNER"


def announce_planner() -> None:
    """Tell the jobs which process asked for them."""
    os.environ[_PLANNER] = str(os.getpid())


def end_with_planner() -> None:
    """End when Snakemake does, however it ends: a restart must not find an orphan at work on the same files."""
    if (number := os.environ.get(_PLANNER)) and hasattr(os, "pidfd_open"):
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
    options = ["--standalone", f"--nproc-per-node={processes}"]
    os.execv(sys.executable, [sys.executable, "-m", "torch.distributed.run", *options, sys.argv[0]])
