"""Snakemake's lock after a kill: it names no process, so the next start cannot tell a dead owner from a live one."""

import fcntl
from pathlib import Path
from typing import TextIO

_held: list[TextIO] = []


def forget_dead_locks(folder: Path) -> None:
    """Remove Snakemake's locks if nobody alive can own them.

    Everyone keeps a shared lock of ours until the process ends, however it ends; who gets an exclusive one is alone,
    and all locks that lie there are of the dead.
    """
    folder.mkdir(exist_ok=True)
    alive = open(folder / "alive", "a")  # noqa: SIM115 - held until this process ends
    _held.append(alive)
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # others are at work
        pass
    else:
        for lock in (folder / "locks").glob("*.lock"):
            lock.unlink(missing_ok=True)
    fcntl.flock(alive, fcntl.LOCK_SH)  # waits for one who cleans up; our own locks do not exist yet
