"""Calls that change an operand, and the pure calls that compute the same value."""

import inspect
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from pascal.graph.leaf import leaf


@dataclass(frozen=True)
class Change:
    """`operand` receives what the pure call returns; `pure` is None where no such call is known."""

    operand: Any
    pure: tuple[str, Any, tuple[Any, ...], dict[str, Any]] | None
    name: str


@leaf
def put(base: Tensor, index: Any, value: Any) -> Tensor:
    """`base` with `value` in the place of base[index]."""
    result = base.clone()
    result[index] = value
    return result


@leaf
def copied(base: Tensor, value: Tensor) -> Tensor:
    """`value` in the shape of `base`."""
    return value.expand_as(base)


_AUGMENTED: dict[Any, Any] = {getattr(operator, f"i{name}"): getattr(operator, name) for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "matmul", "lshift", "rshift",
) if hasattr(operator, f"i{name}")}  # fmt: skip
_AUGMENTED |= {operator.iand: operator.and_, operator.ior: operator.or_}
_WRITES = ("__setitem__", operator.setitem)
_FILLS: dict[str, Callable[..., Any]] = {"zero_": torch.zeros_like, "fill_": torch.full_like, "copy_": copied}
_RESHAPES = {"squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_", "swapdims_", "resize_", "set_", "resize_as_"}


def change_of(kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Change | None:
    """What this call changes in place, if it changes anything."""
    if kind not in ("call_function", "call_method"):
        return None
    if kwargs.get("out") is not None:
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        return Change(kwargs["out"], (kind, target, args, rest), _name(target))
    if target in _WRITES:
        return Change(args[0], ("call_function", put, tuple(args), {}), "item assignment")
    if target in _AUGMENTED:
        return Change(args[0], ("call_function", _AUGMENTED[target], args, kwargs), _name(target))
    name = _name(target)
    if name in _FILLS:
        return Change(args[0], ("call_function", _FILLS[name], args, kwargs), name)
    is_keyword = getattr(target, "__module__", "") == "_operator"  # and_, or_, not_: their underscore says nothing
    if name.endswith("_") and not name.endswith("__") and name != "requires_grad_" and not is_keyword:
        return Change(args[0], _without_underscore(kind, target, name, args, kwargs), name)
    if kind == "call_function" and isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable:
        return Change(args[0], None, name)
    return _without_inplace(kind, target, args, kwargs)


def _without_underscore(kind: str, target: Any, name: str, args: Any, kwargs: Any) -> Any:
    if name in _RESHAPES:
        return None
    if kind == "call_method":
        return (kind, name[:-1], args, kwargs) if hasattr(Tensor, name[:-1]) else None
    homes = [home for home in (torch, F) if getattr(home, name, None) is target and hasattr(home, name[:-1])]
    return (kind, getattr(homes[0], name[:-1]), args, kwargs) if homes else None


def _without_inplace(kind: str, target: Any, args: Any, kwargs: Any) -> Change | None:
    """Functions with an argument `inplace`."""
    if kind != "call_function" or not inspect.isfunction(target):
        return None
    try:
        bound = inspect.signature(target).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return None
    if bound.arguments.get("inplace") is not True:
        return None
    bound.arguments["inplace"] = False
    operand = next(iter(bound.arguments.values()))
    return Change(operand, (kind, target, bound.args, bound.kwargs), _name(target))


def _name(target: Any) -> str:
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))
