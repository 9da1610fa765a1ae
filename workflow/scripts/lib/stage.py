"""What every stage script does before and after its one call: parameters in, log, errors people can read."""

import csv
import json
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from pascal.errors import PascalError

from .commit import git_commit
from .processes import launched
from .stamps import dump


class _Tee:
    """Writes to the terminal and, bars aside, to the log."""

    def __init__(self, terminal: TextIO, log: TextIO) -> None:
        self.terminal, self.log = terminal, log

    def write(self, text: str) -> int:
        if "\r" not in text:
            self.log.write(text)
        return self.terminal.write(text) if self.isatty() else len(text)

    def flush(self) -> None:
        self.log.flush()
        self.terminal.flush()

    def isatty(self) -> bool:
        return self.terminal.isatty()

    def fileno(self) -> int:
        return self.terminal.fileno()


@contextmanager
def stage(job: Any) -> Iterator[dict[str, Any]]:
    """The stage's parameters; what goes wrong ends in one message, and details in the log."""
    terminal = sys.stderr
    Path(job.log[0]).parent.mkdir(parents=True, exist_ok=True)
    with open(job.log[0], "a" if launched() else "w", encoding="utf-8") as log:
        sys.stderr = _Tee(terminal, log)  # type: ignore[assignment]
        try:
            print(f"commit {git_commit() or 'unknown'}", file=log, flush=True)
            params = read_json(job.input.params)
            _use_threads(params.get("threads", 1))
            yield params
        except (PascalError, OSError) as error:
            traceback.print_exc(file=log)
            message = f"{job.rule}: {_explain(error)}"
            print(message, file=log)
            print(f"\n{message}\n", file=terminal, flush=True)
            sys.exit(1)
        finally:
            sys.stderr = terminal


def _use_threads(threads: int) -> None:
    os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(threads)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(threads)


def _explain(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{error}; run the same command again, the stage that writes it comes first"
    if isinstance(error, OSError) and not isinstance(error, PascalError):
        return f"{error}; no result is lost: make room or the folder writable, then run the same command again"
    return str(error)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Move a damaged file of an earlier stage out of the way, so that the same command makes it anew."""
    try:
        yield
    except (PascalError, ValueError) as error:
        if not os.path.exists(path):
            raise
        os.replace(path, f"{path}.damaged")
        message = f"{path} is damaged ({error}); moved to {path}.damaged: run the same command again to make it anew"
        raise PascalError(message) from error


def read_json(path: str | os.PathLike[str]) -> Any:
    """The content of a JSON file."""
    with reading(path):
        return json.loads(Path(path).read_text(encoding="utf-8"))


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """JSON with sorted keys, whole or not at all."""
    write_text(path, dump(content))


def read_rows(path: str | os.PathLike[str]) -> list[dict[str, str]]:
    """The rows of a CSV file, as text."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_rows(path: str | os.PathLike[str], columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """A CSV file with these columns, whole or not at all."""
    part = Path(f"{path}.part")
    with open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(part, path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """A text file, whole or not at all."""
    part = Path(f"{path}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
