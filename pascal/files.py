"""Files written whole: a reader finds the old file or the new one, whenever the process or the machine stops."""

import csv
import fcntl
import io
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pascal.errors import PascalError

if TYPE_CHECKING:  # planning reads and writes text alone, without torch
    from torch import Tensor

AnyPath = str | os.PathLike[str]


@contextmanager
def replacing(path: AnyPath) -> Iterator[BinaryIO]:
    """A file that takes the place and the mode of `path` when the block ends well; an error leaves all as it was.

    A symbolic link is replaced, not followed: what it points to may be somebody's cache.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    part, file = _new_part(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if target.is_file():
                part.chmod(target.stat().st_mode)
            os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name itself must reach the disk
    finally:
        os.close(folder)


def _new_part(target: Path) -> tuple[Path, BinaryIO]:
    """A new file beside the target, locked for as long as its writer lives; those of the dead are removed."""
    own = f".{sha256(target.name.encode()).hexdigest()[:16]}."
    for left in target.parent.glob(f"{own}*.part"):
        with suppress(OSError), open(left, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
    while True:
        part = target.with_name(f"{own}{secrets.token_hex(8)}.part")
        new = open(part, "xb")  # noqa: SIM115 - the caller closes it
        with suppress(OSError):  # where a file system has no locks nobody removes anything
            fcntl.flock(new, fcntl.LOCK_EX)
        if os.fstat(new.fileno()).st_nlink:  # else somebody took it for a dead one's before it was locked
            return part, new
        new.close()


def write_bytes(path: AnyPath, content: bytes) -> Path:
    """Write these bytes."""
    with replacing(path) as file:
        file.write(content)
    return Path(path)


def write_text(path: AnyPath, text: str) -> Path:
    """Write text as UTF-8, line ends as they are."""
    return write_bytes(path, text.encode())


def write_rows(path: AnyPath, columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write a CSV file with these columns."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return write_text(path, text.getvalue())


def write_tensors(path: AnyPath, tensors: "Mapping[str, Tensor]") -> Path:
    """Write a safetensors file; the same tensors give the same bytes."""
    from safetensors.torch import save

    return write_bytes(path, save({name: tensors[name] for name in sorted(tensors)}))


def read_tensors(path: AnyPath) -> "dict[str, Tensor]":
    """Read a safetensors file."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(Path(path).read_bytes())
    except FileNotFoundError as error:
        raise PascalError(f"{path}: there is no such file, expected weights as safetensors; check the path") from error
    except (OSError, SafetensorError) as error:
        raise PascalError(f"{path}: {error}; delete the file and run the stage that writes it again") from error
