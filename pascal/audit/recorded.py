"""What was measured here: accuracies of the recorded runs and networks, for the audit."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pascal.audit.audit import Measured
from pascal.errors import PascalError


def measured_records(folder: Path) -> Iterator[Measured]:
    """From every JSON under `folder` that records a run or a network; none where there is no such folder."""
    for path in sorted(folder.rglob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise PascalError(f"{path}: {error}; expected JSON, restore it from version control") from error
        if isinstance(record, dict) and record.get("kind") in _READERS:
            try:
                yield from _READERS[record["kind"]](record)
            except (KeyError, TypeError) as error:
                raise PascalError(f"{path}: lacks {error}; restore it from version control") from error


def _of_run(record: dict[str, Any]) -> Iterator[Measured]:
    about = (record["network"], record["dataset"], tuple(record["levels"].values()))
    for kind in ("ANN", "SNN"):
        value = 100 * record[f"{kind.lower()}_accuracy"]
        yield Measured(f"{kind} accuracy %", *about, value, _conditions(record), record["width"])


def _of_network(record: dict[str, Any]) -> Iterator[Measured]:
    build = record["build"]
    about = (build["name"], record["dataset"], (build["levels"],))
    yield Measured(
        "ANN accuracy %", *about, 100 * record["test_accuracy"], _conditions(record) + f", {build['pool']} pooling",
        build["width"],
    )  # fmt: skip


def _conditions(record: dict[str, Any]) -> str:
    return f"{record['epochs']} epochs of {record['training_images']:,} images"


_READERS = {"run": _of_run, "network": _of_network}
