"""The messages that docs/troubleshooting.md quotes are those of the source."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import snakemake.exceptions

from pascal.pipeline.parameters.faults import expected
from pascal.pipeline.parameters.file import File

ROOT = Path(__file__).parents[1]
_SOURCES = [
    *sorted((ROOT / "pascal").rglob("*.py")),
    *sorted((ROOT / "pascal" / "pipeline").glob("*.py")),
    Path(str(snakemake.exceptions.__file__)),
]
_QUOTED = re.findall(r"```text\n(.*?)\n```", (ROOT / "docs" / "troubleshooting.md").read_text(), re.DOTALL)
_LETTERS = 20  # that a message must have of its own
_VALUE = "\1"  # stands for a value in a text


def _texts() -> Iterator[str]:
    """Every line of text in the source."""
    for path in _SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr | ast.Constant):
                values = node.values if isinstance(node, ast.JoinedStr) else [node]
                yield from "".join(map(_text, values)).splitlines()
    yield from re.findall(r'echo "(.*?)"', (ROOT / "workflow" / "adopt").read_text())


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else _VALUE


def _expectations(node: Any, root: dict[str, Any]) -> Iterator[str]:
    if isinstance(node, dict):
        yield f": got {_VALUE}, expected {expected(node, root)}"
        for part in node.values():
            yield from _expectations(part, root)


@pytest.fixture(scope="module")
def patterns() -> list[str]:
    """Texts as patterns in which values may be anything."""
    schema = File.model_json_schema()
    texts = [text for text in (*_texts(), *_expectations(schema, schema)) if len(text.replace(_VALUE, "")) >= _LETTERS]
    return [re.escape(text).replace(_VALUE, ".*") for text in texts]


def test_something_is_quoted() -> None:
    assert len(_QUOTED) > 25


def _is_told(message: str, patterns: list[str]) -> bool:
    """A text of the source stands at the end of the message; before it there may be a file or a stage."""
    return any(re.search(rf"{pattern}\Z", message) for pattern in patterns)


@pytest.mark.parametrize("message", _QUOTED)
def test_a_quoted_message_is_one_of_the_source(message: str, patterns: list[str]) -> None:
    assert _is_told(message, patterns)


@pytest.mark.parametrize("message", [f"{message} soon" for message in _QUOTED if message.endswith(("again", "first"))])
def test_a_message_that_was_changed_is_found_out(message: str, patterns: list[str]) -> None:
    assert not _is_told(message, patterns)
