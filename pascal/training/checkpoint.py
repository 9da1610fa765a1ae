"""Training states on disk, and the checkpoint a killed run goes on from."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from pascal.errors import PascalError
from pascal.files import read_tensors, write_tensors, write_text
from pascal.training.records import EpochRecord, TrainingState

_SCHEDULE, _DIGEST = "schedule", "digest"
_REMEDY = "delete its folder, and training starts again"


def save_state(path: str | PathLike[str], state: TrainingState) -> None:
    """Weights, momenta and step: bytes that depend on nothing but seed, schedule and levels."""
    tensors = {**state.tensors, _SCHEDULE: torch.tensor([state.step, state.steps_per_epoch])}
    write_tensors(path, {**tensors, _DIGEST: _digest(tensors)})


def load_state(path: str | PathLike[str]) -> TrainingState:
    """A state written by `save_state`; it remembers no records."""
    tensors = read_tensors(path)
    if _SCHEDULE not in tensors:
        raise PascalError(f"{path}: holds no training state, expected a file written by save_state")
    digest = tensors.pop(_DIGEST, torch.empty(0))
    if not torch.equal(digest, _digest(tensors)):
        raise PascalError(f"{path}: not the numbers that were saved; {_REMEDY}")
    step, steps_per_epoch = tensors.pop(_SCHEDULE).tolist()
    return TrainingState(step, steps_per_epoch, tensors)


def _digest(tensors: Mapping[str, Tensor]) -> Tensor:
    """Of names, shapes and numbers: a state is nobody's result yet, so that no record vouches for it."""
    content = save({name: tensors[name].contiguous() for name in sorted(tensors)})
    return torch.tensor(list(hashlib.sha256(content).digest()), dtype=torch.uint8)


@dataclass(frozen=True)
class Checkpoint:
    """The newest state of one run. `key` digests all that the run depends on, so that no other run picks it up."""

    folder: Path
    key: str

    @property
    def _state(self) -> Path:
        return self.folder / self.key / "state.safetensors"

    @property
    def _records(self) -> Path:
        return self.folder / self.key / "records.json"

    def set_aside(self) -> None:
        """Keep a damaged one where no training finds it."""
        with suppress(FileNotFoundError):
            os.replace(self._state, f"{self._state}.damaged")

    def save(self, state: TrainingState) -> None:
        """Records first: a kill in between leaves one row too many, which `load` can tell."""
        records = {"key": self.key, "seconds": state.seconds, "records": [asdict(record) for record in state.records]}
        write_text(self._records, json.dumps(records))
        save_state(self._state, state)

    def load(self) -> TrainingState | None:
        """The newest state, or None before the first."""
        if not self._state.exists():
            return None
        state, saved = load_state(self._state), _read_json(self._records)
        if saved.get("key") != self.key:
            raise PascalError(f"{self._records}: belongs to run {saved.get('key')!r}, expected {self.key!r}; delete it")
        epochs = state.step // state.steps_per_epoch
        with _whole(self._records):
            records = tuple(EpochRecord(**record) for record in saved["records"] if record["epoch"] <= epochs)
            return replace(state, records=records, seconds=float(saved["seconds"]))


def _read_json(path: Path) -> dict[str, Any]:
    with _whole(path):
        content = json.loads(path.read_text())
    if not isinstance(content, dict):
        raise PascalError(f"{path}: got {content!r:.40}, expected an object with key, seconds and records; {_REMEDY}")
    return content


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """What a damaged file raises becomes one of ours, with what to do."""
    try:
        yield
    except KeyError as error:
        raise PascalError(f"{path}: lacks {error}; {_REMEDY}") from error
    except (OSError, TypeError, ValueError) as error:
        raise PascalError(f"{path}: {error}; {_REMEDY}") from error
