"""Faults in words: the key's path, the value and what was expected, which the models' own JSON schema says."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from reprlib import Repr
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

Schema = Mapping[str, Any]

_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxtuple, _SHORT.maxstring, _SHORT.maxlong = 3, 6, 6, 60, 50


def show(value: Any) -> str:
    """A value in one short line, however large it is."""
    try:
        text = _SHORT.repr(value)
    except ValueError:  # a number with more digits than Python writes
        text = "a huge number"
    return text if len(text) <= 120 else f"{text[:100]}…{text[-10:]}"


def explain(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Every fault once, in the order of the keys."""
    root = model.model_json_schema()
    faults = {fault for details in error.errors(include_url=False) for fault in _explain(details, root)}
    return sorted(faults)


def _explain(error: ErrorDetails, root: Schema) -> Iterator[str]:
    *above, last = error["loc"] or ("",)
    value = show(error["input"])
    if last == "[key]":
        yield f"{_dotted(above[:-1])}: got the name {value}, expected {error.get('ctx', {}).get('expected', 'text')}"
        return
    path, node, around = follow(root, error["loc"])
    if error["type"] == "extra_forbidden":
        yield f"{_dotted([*path, last])}: unknown key with value {value}, expected {_nearest(str(last), around)}"
    elif error["type"] == "missing":
        why = "; runs fall back on it" if path[0] == "defaults" else ""
        yield f"{_dotted(path)}: missing, expected {expected(node, root)}{why}"
    else:
        own = error.get("ctx", {}).get("expected") if error["type"] == "expected" else None
        yield f"{_dotted(path)}: got {value}, expected {own or expected(node, root)}"


def _nearest(key: str, node: Schema) -> str:
    known = sorted(node.get("properties", {}))
    near = get_close_matches(key, known, 1)
    shown = known if len(known) <= 20 else get_close_matches(key, known, 8, 0.0)
    return f"one of {', '.join(shown)}{'' if len(shown) == len(known) else ', …'}" + (
        f" (did you mean {near[0]!r}?)" if near else ""
    )


def follow(root: Schema, loc: Sequence[int | str]) -> tuple[list[int | str], Schema, Schema]:
    """The path that a person would write, the schema there, and that of the mapping around it.

    Pydantic also puts the alternative that it tried into `loc`: no key, but the choice of a schema.
    """
    path: list[int | str] = []
    node = around = resolve(root, root)
    for place, part in enumerate(loc):
        if options := _alternatives(node):
            if place == len(loc) - 1 and "oneOf" not in node:
                break  # no alternative fits, so that all are told
            named = [option for option in options if option.get("$ref", "").endswith(f"/{part}")]
            node = resolve((named or [option for option in options if "items" in option] or options)[0], root)
            continue
        below = _below(node, part)
        if below is None:
            return path, node, node
        path.append(part)
        around, node = node, resolve(below, root)
    return path, node, around


def _below(node: Schema, part: int | str) -> Schema | None:
    if isinstance(part, int):
        return node.get("items")
    patterns = list(node.get("patternProperties", {}).values())
    named = node.get("properties", {}).get(part)
    other = node.get("additionalProperties") or (patterns[0] if patterns else None)
    return named if named is not None else other if isinstance(other, Mapping) else None


def _alternatives(node: Schema) -> list[Schema]:
    """Of a choice between kinds of values; that a value may be left out is none."""
    options = [option for option in node.get("oneOf", node.get("anyOf", ())) if option.get("type") != "null"]
    return options if len(options) > 1 else []


def resolve(node: Schema, root: Schema) -> Schema:
    """A schema with what it refers to; its own description comes first."""
    options = [option for option in node.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        node = {**options[0], **{key: value for key, value in node.items() if key != "anyOf"}}
    if "$ref" in node:
        node = {**resolve(root["$defs"][node["$ref"].rpartition("/")[2]], root), **node}
    return node


def expected(node: Schema, root: Schema) -> str:
    """What a schema asks for, in words."""
    node = resolve(node, root)
    return ", ".join(text for text in (_kind(node, root), node.get("description")) if text)


def _kind(node: Schema, root: Schema) -> str:
    if options := _alternatives(node):
        return "a mapping" if "oneOf" in node else ", or ".join(_kind(option, root) for option in options)
    if "enum" in node or "const" in node:
        *most, last = map(str, node.get("enum", [node.get("const")]))
        return f"{', '.join(most)} or {last}" if most else last
    if node.get("type") == "array":
        size = f"{node['minItems']} " if "maxItems" in node and node["minItems"] == node["maxItems"] else ""
        items = _kind(node["items"], root).replace("a whole number", "whole numbers").replace("a finite", "finite")
        return (
            f"a list of {size}{'different ' if node.get('uniqueItems') else ''}{items.replace('number >', 'numbers >')}"
        )
    if node.get("type") == "object":
        return "a mapping with at least one entry" if "minProperties" in node else "a mapping"
    return _SCALARS.get(node.get("type", ""), "") + _range(node)


_SCALARS = {"integer": "a whole number", "number": "a finite number", "boolean": "true or false"}


def _range(node: Schema) -> str:
    if node.get("minimum") == 0 and node.get("exclusiveMaximum") == 1:
        return " in [0, 1)"
    if node.get("exclusiveMinimum") == 0 and node.get("maximum") == 1:
        return " in (0, 1]"
    words = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "at most", "exclusiveMaximum": "less than"}
    return " and".join(f" {word} {_number(node[key])}" for key, word in words.items() if key in node)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and (isinstance(value, int) or value < 1e12) else f"{value:g}"


def _dotted(path: Sequence[int | str]) -> str:
    return ".".join(show(part)[1:-1] if isinstance(part, str) else str(part) for part in path) or "the file"
