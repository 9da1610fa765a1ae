"""Which commit results were made from."""

import subprocess
from os import PathLike


def git_commit(folder: str | PathLike[str] = ".") -> str:
    """The commit of the repository around `folder`, marked where files were edited since; nothing outside git.

    It takes no lock: every stage asks, while a person may be committing.
    """
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        edited = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{commit}{' with edits' if edited else ''}"


def _git(folder: str | PathLike[str], *command: str) -> str:
    return subprocess.run(
        ["git", "--no-optional-locks", *command], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()
