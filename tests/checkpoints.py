"""Real data and checkpoints: tests that need them say which folder is missing, and are skipped without it."""

from pathlib import Path

import pytest

from benchmarks import checkpoints
from pascal.errors import PascalError


def checkpoint_path(name: str) -> Path:
    """The checkpoint's path, or a skip."""
    try:
        return checkpoints.checkpoint_path(name)
    except PascalError as error:
        pytest.skip(str(error))


def data_root() -> Path:
    """The folder with CIFAR-10, or a skip."""
    try:
        return checkpoints.data_root()
    except PascalError as error:
        pytest.skip(str(error))
