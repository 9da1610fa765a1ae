"""The arguments of calls as plain data, and back."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from pascal.errors import PascalError

_KINDS = {"dtype": torch.dtype, "memory_format": torch.memory_format, "layout": torch.layout}


def encoded(value: Any, where: str) -> Any:
    """Numbers, texts and lists as they are; whatever JSON lacks as an object with the name of its kind."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list):
        return [encoded(one, where) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [encoded(one, where) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[encoded(key, where), encoded(one, where)] for key, one in value.items()]}
    return _object(value, where)


def _object(value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, fx.Node):
        return {"call": value.name}
    if isinstance(value, slice):
        return {"slice": [encoded(one, where) for one in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": None}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    for kind, of in _KINDS.items():
        if isinstance(value, of):
            return {kind: str(value).removeprefix("torch.")}
    raise PascalError(f"{where}: an argument is {value!r:.60} ({type(value).__name__}), which has no place in a file")


def decoded(value: Any, call: Callable[[str], Any]) -> Any:
    """The argument that was encoded; `call` gives the node of a name."""
    if isinstance(value, list):
        return [decoded(one, call) for one in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "call":
        return call(content)
    if kind == "tuple":
        return tuple(decoded(content, call))
    if kind == "slice":
        return slice(*decoded(content, call))
    if kind == "dict":
        return {decoded(key, call): decoded(one, call) for key, one in content}
    if kind in _KINDS and isinstance(getattr(torch, content, None), _KINDS[kind]):
        return getattr(torch, content)
    plain: dict[str, Callable[[Any], Any]] = {"float": float, "device": torch.device, "ellipsis": lambda _: Ellipsis}
    if kind in plain:
        return plain[kind](content)
    raise PascalError(f"it has an argument of the unknown kind {kind!r}")
