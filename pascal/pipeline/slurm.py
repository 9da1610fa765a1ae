"""Slurm as the pipeline meets it: whether the cluster keeps accounts of its jobs."""

import re
import subprocess
import sys
from typing import Any


def accounting() -> bool:
    """Whether `sacct` knows of jobs; it is installed, and fails, where nothing is stored."""
    asked = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True, check=False)
    found = re.search(r"^AccountingStorageType\s*=\s*(\S+)", asked.stdout, re.MULTILINE)
    return found is not None and not re.search(r"\bnone\b|null", found[1])


def ask_who_knows(settings: Any) -> None:
    """Jobs are asked after with `sacct`, and with `squeue` where that fails: Snakemake would wait for ever."""
    if getattr(settings, "status_command", None) == "sacct" and not accounting():
        print("this cluster keeps no accounts: jobs are asked after with squeue", file=sys.stderr)
        settings.status_command = "squeue"
