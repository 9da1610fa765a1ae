"""What every stage script does before and after its one call: parameters in, log, errors people can read."""

import csv
import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from pascal.errors import PascalError
from pascal.files import write_text
from pascal.pipeline.canonical import dump
from pascal.pipeline.commit import git_commit
from pascal.pipeline.masking import masked
from pascal.pipeline.memory import Memory
from pascal.pipeline.parameters.files import read_part
from pascal.pipeline.processes import end_with_planner, launched
from pascal.pipeline.records import digests, write_record
from pascal.pipeline.sources import read_source


class _Tee:
    """Writes to the terminal and, bars aside, to the log; neither sees credentials."""

    def __init__(self, terminal: TextIO, log: TextIO) -> None:
        self.terminal, self.log = terminal, log

    def write(self, text: str) -> int:
        if "\r" not in text:
            self.log.write(masked(text))
        return self.terminal.write(masked(text)) if self.isatty() else len(text)

    def flush(self) -> None:
        self.log.flush()
        self.terminal.flush()

    def isatty(self) -> bool:
        return self.terminal.isatty()

    def fileno(self) -> int:
        return self.terminal.fileno()


@contextmanager
def stage(job: Any) -> Iterator[Any]:
    """The stage's own part of the parameters, typed; what goes wrong ends in one message, and details in the log."""
    terminal = sys.stderr
    Path(job.log[0]).parent.mkdir(parents=True, exist_ok=True)
    with open(job.log[0], "a" if launched() else "w", encoding="utf-8") as log:
        sys.stderr = _Tee(terminal, log)  # type: ignore[assignment]
        try:
            end_with_planner()
            print(f"commit {git_commit() or 'unknown'}", file=log, flush=True)
            inputs = digests(job.input)
            _check_code(job)
            with reading(job.input.params):
                params = read_part(job.input.params)
            _use_threads(getattr(params, "threads", 1))
            yield params
            write_record(job, inputs)
        except (PascalError, OSError) as error:
            log.write(masked(traceback.format_exc()))
            message = masked(f"{job.rule}: {_explain(error)}")
            print(message, file=log)
            print(f"\n{message}\n", file=terminal, flush=True)
            sys.exit(1)
        finally:
            sys.stderr = terminal


def _check_code(job: Any) -> None:
    """Refuse code that was edited since Snakemake planned: the record would tell of the code before."""
    if stamp := job.input.get("code"):
        root, known = Path(job.scriptdir).resolve().parents[1], Memory(Path("build/memory/code.json"), read_source)
        for line in Path(stamp).read_text(encoding="utf-8").splitlines():
            digest, _, file = line.partition("  ")
            if not (root / file).exists() or known.of(root / file)["digest"] != digest:
                raise PascalError(f"{file} was edited since this command began; run the same command again")


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


def read_rows(path: str | os.PathLike[str], columns: Sequence[str] = ()) -> list[dict[str, str]]:
    """The rows of a CSV file, as text: each of them whole, and with these columns."""
    with reading(path), open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
        known = reader.fieldnames
        if known is None or not set(columns) <= set(known):
            raise ValueError(f"got the columns {list(known or ())}, expected {', '.join(columns) or 'some'}")
        if any(None in row or None in row.values() for row in rows):
            raise ValueError("a row that is not whole")
        return rows
