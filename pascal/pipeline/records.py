"""One small record for each job: digests of the files that it made, and of all that it made them from.

Parameters and code are files among its inputs, so that a record says everything that a result depends on. Records stand
in the folders of the results, DVC keeps them together, and planning believes no file without one.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pascal.files import write_text
from pascal.pipeline.canonical import dump

RESULTS = "results"
RECORDS = "records"  # the name of their folders
_PLACES = (RESULTS, "work/retrain", "work/mlflow")
_NO_RESULTS = ("reference", "mlartifacts")  # folders of results/ that no job writes
Digests = dict[str, str]


@dataclass(frozen=True)
class Record:
    """What one job of a rule made; digests by path."""

    rule: str
    inputs: Digests
    outputs: Digests


def file_digest(path: str | os.PathLike[str]) -> str:
    """The digest of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_digest(text: str) -> str:
    """The digest that a file with this text has."""
    return hashlib.sha256(text.encode()).hexdigest()


def digests(paths: Iterable[str]) -> Digests:
    """Of files as they stand."""
    return {str(path): file_digest(path) for path in paths}


def write_record(job: Any, inputs: Mapping[str, str]) -> None:
    """Say what a job of Snakemake has made; the last thing it does, so that a killed one leaves no record."""
    if job.output:
        record = Record(job.rule, dict(inputs), digests(job.output))
        write_text(record_path(job), dump(asdict(record)))


def record_path(job: Any) -> Path:
    """Where a job's record stands: with its results, and with its run's if its own never leave this machine."""
    first, run, seed = Path(job.output[0]), getattr(job.wildcards, "run", None), getattr(job.wildcards, "seed", None)
    if run and seed:
        return Path(RESULTS, run, str(seed), RECORDS, f"{job.rule}.json")
    return first.parent / RECORDS / f"{job.rule}-{first.stem}.json"


def result_files() -> Iterator[str]:
    """Everything that stands where results stand, MLflow's store aside."""
    return (f"{folder}/{name}" for folder, names in _folders() if Path(folder).name != RECORDS for name in names)


def read_records() -> Iterator[Record]:
    """Every record that can be read; one that cannot vouches for nothing."""
    for folder, names in _folders():
        for name in sorted(names) if Path(folder).name == RECORDS else ():
            with suppress(OSError, ValueError, TypeError):
                record = Record(**json.loads(Path(folder, name).read_text(encoding="utf-8")))
                if isinstance(record.inputs, dict) and isinstance(record.outputs, dict):
                    yield record


def _folders() -> Iterator[tuple[str, list[str]]]:
    for place in _PLACES:
        for folder, below, names in os.walk(place):
            if folder == RESULTS:
                below[:] = [name for name in below if name not in _NO_RESULTS]
                names = [name for name in names if not name.startswith("mlflow.db")]
            below.sort()
            yield folder, names
