"""Snakemake's lock after a kill: it names no process, so the next start cannot tell a dead owner from a live one."""

import fcntl
from pathlib import Path
from typing import TextIO

_held: list[TextIO] = []


def forget_dead_locks(folder: Path) -> None:
    """Remove Snakemake's locks if nobody alive owns them: the kernel frees our own lock however a process ends."""
    folder.mkdir(exist_ok=True)
    alive = open(folder / "alive", "w")  # noqa: SIM115 - held until this process ends
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        alive.close()
        return
    _held.append(alive)
    for lock in (folder / "locks").glob("*.lock"):
        lock.unlink(missing_ok=True)
