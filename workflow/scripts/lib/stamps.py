"""Small files that change only when their content does, so that they can be the inputs of rules."""

import ast
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any


def write_if_changed(path: Path, text: str) -> None:
    """Leave an equal file alone: its time stamp is what Snakemake looks at first."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text)
    os.replace(part, path)


def dump(content: Any) -> str:
    """JSON with sorted keys: equal content gives equal bytes."""
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def digest(content: Any) -> str:
    """A short name for what a result depends on."""
    return hashlib.sha256(dump(content).encode()).hexdigest()[:16]


def code_stamp(root: Path, parts: Iterable[str]) -> str:
    """One line per Python file of the parts: its hash and path."""
    return "".join(f"{_hash(file)}  {file.relative_to(root)}\n" for file in _sources(root, parts))


def _sources(root: Path, parts: Iterable[str]) -> Iterator[Path]:
    for part in sorted(parts):
        path = root / part
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


@cache
def _hash(file: Path) -> str:
    """Of the syntax tree: a comment or a new line retrains nothing."""
    text = file.read_text(encoding="utf-8")
    with suppress(SyntaxError):  # the stage itself will say so; until then any edit counts
        text = ast.dump(ast.parse(text))
    return hashlib.sha256(text.encode()).hexdigest()
