"""Parameters against the schema: every fault at once, each with its path, its value and what was expected."""

import sys
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from .errors import ParameterError
from .strict_yaml import read_yaml

_TYPES = Draft202012Validator.TYPE_CHECKER.redefine(  # 4.0 is no number of levels
    "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
).redefine("number", lambda _, value: _is_number(value))
_Validator = extend(Draft202012Validator, type_checker=_TYPES)


def _is_number(value: Any) -> bool:
    """One that a float holds: neither infinity nor 10**400."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def read_schema(path: Path) -> dict[str, Any]:
    """The schema, checked to be one."""
    schema = read_yaml(path)
    _Validator.check_schema(schema)
    return schema


def check_schema(params: Any, schema: dict[str, Any]) -> None:
    """Refuse parameters that the schema does not describe."""
    faults = sorted({text for error in _Validator(schema).iter_errors(params) for text in _explain(error, schema)})
    if faults:
        raise ParameterError("\n".join(faults))


def _explain(error: ValidationError, root: dict[str, Any]) -> Iterator[str]:
    path = [str(part) for part in error.absolute_path]
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))
        for key in sorted(set(error.instance) - set(known), key=str):
            yield _unknown([*path, str(key)], error.instance[key], known)
    elif error.validator == "required":
        for key in error.validator_value:
            if key not in error.instance:
                subschema = error.schema.get("properties", {}).get(key, {})
                subschema = root["$defs"].get(subschema.get("$ref", "").rpartition("/")[2], subschema)
                yield f"{_dotted([*path, key])}: missing, expected {_expected(subschema)}"
    elif error.validator == "propertyNames" or (error.parent is not None and error.parent.validator == "propertyNames"):
        yield f"{_dotted(path)}: got the name {error.instance!r}, expected {_expected(error.schema)}"
    else:
        yield f"{_dotted(path)}: got {error.instance!r}, expected {_expected(error.schema)}"


def _unknown(path: list[str], value: Any, known: list[str]) -> str:
    near = get_close_matches(path[-1], known, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{_dotted(path)}: unknown key with value {value!r}, expected one of {', '.join(known)}{hint}"


def _expected(schema: dict[str, Any]) -> str:
    if "description" in schema:
        return str(schema["description"])
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    return f"a value of type {schema.get('type', 'any')}"


def _dotted(path: list[str]) -> str:
    return ".".join(path) or "the file"
