"""Values that people hand over, checked at the door: a refusal says the name, what was got, and what was expected."""

from collections.abc import Collection, Iterable, Mapping
from math import isfinite
from numbers import Integral, Real
from typing import Any

from pascal.errors import PascalError


def check_number(value: Any, name: str, *, above: float | None = None, least: float | None = None) -> float:
    """`value`, if it is a finite number above a bound, or at least another one."""
    wanted = "" if above is None else f" > {above:g}"
    wanted += "" if least is None else f" >= {least:g}"
    is_number = isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    if not is_number or (above is not None and value <= above) or (least is not None and value < least):
        raise PascalError(f"{name}: got {shown(value)}, expected a finite number{wanted}")
    return value  # type: ignore[no-any-return]


def check_whole(value: Any, name: str, least: int = 1) -> int:
    """`value`, if it is a whole number, not below the least one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise PascalError(f"{name}: got {shown(value)}, expected a whole number >= {least}")
    return int(value)


def check_choice(value: Any, name: str, choices: Collection[str]) -> str:
    """`value`, if it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise PascalError(f"{name}: got {shown(value)}, expected one of {', '.join(map(repr, choices))}")
    return value


def check_several(values: Any, name: str, of: str) -> list[Any]:
    """`values` as a list, if there are any; text and mappings are one thing, not several."""
    if isinstance(values, str | bytes | Mapping | type) or not isinstance(values, Iterable):
        raise PascalError(f"{name}: got {shown(values)}, expected {of}")
    found = list(values)
    if not found:
        raise PascalError(f"{name}: got none, expected {of}")
    return found


def shown(value: Any) -> str:
    """What was given, short enough for a message."""
    if value is None:
        return "None"
    text = repr(value).partition("\n")[0]
    return f"{text if len(text) <= 40 else text[:40] + '…'} ({type(value).__name__})"
