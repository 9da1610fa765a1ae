"""YAML without its traps: duplicate keys, tabs, bombs, and values that YAML 1.1 reads otherwise than people and DVC."""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from pascal.pipeline.errors import ParameterError
from pascal.pipeline.parameters.faults import show

LARGEST = 1_000_000  # bytes: hundreds of runs take some 100,000
DEEPEST = 30  # mappings and lists within each other
MOST = 100_000  # values, those behind aliases counted wherever they are used


class _Loader(yaml.CSafeLoader):
    """Refuses a key that stands twice in one mapping."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 - PyYAML's own way; filled below

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key, line = self.construct_object(key_node, deep=True), key_node.start_mark.line + 1
            if not isinstance(key, Hashable):
                raise ParameterError(f"line {line}: got the key {show(key)}, expected text")
            if key in seen:
                twice = f"key {show(key)} stands twice, first on line {seen[key]}; expected it once, remove one"
                raise ParameterError(f"line {line}: {twice}")
            seen[key] = line
        return super().construct_mapping(node, deep)


# What YAML 1.2 calls its core schema, as DVC reads it: 010, 1:30 and `yes` are text, and 5e-4 is a number.
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+", "-+.0123456789"),
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", "-+."),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))


def read_yaml(path: Path) -> Any:
    """The content of a parameter file."""
    text = ""
    try:
        text = _text(path)
        _check(text)
        return _construct(_Loader(text))
    except FileNotFoundError as error:
        raise ParameterError(
            f"{path}: no such file; expected a parameter file, copy one of workflow/presets/ there"
        ) from error
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from error
    except yaml.YAMLError as error:
        raise ParameterError(f"{path}: {_explain(error, text)}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: {error}; expected a readable UTF-8 file") from error


def _text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ParameterError(f"got more than {LARGEST:,} bytes, expected a parameter file, which is smaller")
    return content.decode("utf-8")


def _check(text: str) -> None:
    """Before anything recurses or grows."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, yaml.CSafeLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1
        if depth > DEEPEST:
            raise ParameterError(
                f"line {line}: got {depth} lists and mappings in each other, expected at most {DEEPEST}"
            )
        if tag := getattr(event, "tag", None):
            raise ParameterError(f"line {line}: got the tag {show(tag)}, expected plain values without tags")
        if count > MOST:
            raise ParameterError(_TOO_MANY)


_TOO_MANY = f"got more than {MOST:,} values, aliases written out, expected a parameter file, which has fewer"


def _construct(loader: _Loader) -> Any:
    node = loader.get_single_node()
    if node is None:
        return None
    if _size(node, {}) > MOST:
        raise ParameterError(_TOO_MANY)
    try:
        return loader.construct_document(node)
    except ParameterError:
        raise
    except ValueError as error:
        raise ParameterError("got a number of more digits than Python reads, expected a shorter one") from error


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Values at and below a node, as often as aliases repeat them."""
    if id(node) not in known:
        known[id(node)] = MOST + 1  # until it is counted: a node within itself has no end
        below = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
        of_parts = (_size(part, known) for part in below) if isinstance(node, yaml.CollectionNode) else ()
        known[id(node)] = 1 + sum(of_parts)
    return known[id(node)]


def _explain(error: yaml.YAMLError, text: str) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    if (
        mark
        and text.splitlines()[mark.line : mark.line + 1]
        and "\t" in text.splitlines()[mark.line][: mark.column + 1]
    ):
        return f"{where}got a tab, expected spaces: YAML is indented with spaces alone"
    problem = " ".join(str(getattr(error, "problem", error)).split())
    return f"{where}{problem[:200]}; expected YAML"
