"""Several processes in one stage: the job turns into torchrun, which starts the same script once for each process."""

import os
import sys


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
