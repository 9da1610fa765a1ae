"""Tensors in safetensors files, written so that a reader finds the old file or the new one, never a half."""

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from pascal.errors import PascalError


def weights(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the model's state on the CPU, in plain memory order."""
    return {name: own_copy(tensor) for name, tensor in model.state_dict().items()}


def own_copy(tensor: Tensor) -> Tensor:
    """The values as they are now, in memory that nobody else writes to."""
    return tensor.detach().cpu().clone().contiguous()


def write_tensors(path: str | PathLike[str], tensors: Mapping[str, Tensor]) -> None:
    """Write a safetensors file; the same tensors give the same bytes."""
    write_atomically(path, save({name: tensors[name] for name in sorted(tensors)}))


def read_tensors(path: str | PathLike[str]) -> dict[str, Tensor]:
    """Read a safetensors file."""
    try:
        return load(Path(path).read_bytes())
    except FileNotFoundError as error:
        raise PascalError(f"{path}: there is no such file, expected weights as safetensors; check the path") from error
    except (OSError, SafetensorError) as error:
        raise PascalError(f"{path}: {error}; delete the file and run the stage that writes it again") from error


def write_atomically(path: str | PathLike[str], content: bytes) -> None:
    """Replace a file in one moment: whenever the process or the machine stops, `path` is whole."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name itself must reach the disk
    finally:
        os.close(folder)
