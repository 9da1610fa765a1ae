"""Which functions, methods and modules a file may name: those that compute on tensors and sizes, and nothing else."""

import builtins
import math
import operator
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pascal.errors import PascalError
from pascal.graph.settings import SIZES
from pascal.graph.sums import add_into, add_scaled
from pascal.graph.tracing import expect, put
from pascal.graph.tracing.inplace import copied

_OWN = {function.__name__: function for function in (add_into, add_scaled, expect, put, copied)}
_BUILTINS = ("getattr", "len", "int", "float", "bool", "abs", "max", "min", "sum", "round", "divmod", "slice")
_ATTRIBUTES = (*SIZES, "T", "mT", "data", "is_contiguous")
_OUTSIDE = {"from_file", "numpy", "storage", "untyped_storage", "apply_", "map_", "map2_", "register_hook", "backward"}


def _identity(values: Tensor, *_: Any, **__: Any) -> Tensor:
    """In the place of functions that hand their input on at inference, such as stochastic depth."""
    return values


def _homes() -> dict[str, dict[str, Any]]:
    own_of_torch = {name: getattr(torch, name) for name in torch.functional.__all__ if hasattr(torch, name)}
    return {
        "pascal": {**_OWN, "identity": _identity},
        "torch": {**_public(torch._C._VariableFunctions), **own_of_torch},
        "torch.nn.functional": _public(F),
        "operator": _public(operator),
        "math": _public(math),
        "builtins": {name: getattr(builtins, name) for name in _BUILTINS},
    }


def _public(home: ModuleType | type) -> dict[str, Any]:
    found = {name: getattr(home, name) for name in dir(home) if not name.startswith("_") and name not in _OUTSIDE}
    return {name: value for name, value in found.items() if callable(value) and not isinstance(value, type)}


_HOMES = _homes()


def name_of(function: Any, where: str) -> str:
    """`home:name` of a function."""
    if getattr(function, "__name__", "") == "stochastic_depth":
        return "pascal:identity"
    for home, functions in _HOMES.items():
        for name, known in functions.items():
            if known is function:
                return f"{home}:{name}"
    raise PascalError(
        f"{where}: the function {getattr(function, '__name__', function)!r} cannot be saved, expected one of "
        "torch, torch.nn.functional, operator or math; write the call with these"
    )


def function_of(name: str) -> Any:
    """The function that a file names."""
    home, _, own = name.partition(":")
    if own not in _HOMES.get(home, {}):
        raise PascalError(f"it calls {name!r}, which no saved network does; only load files that pascal.save wrote")
    return _HOMES[home][own]


def method_of(name: str) -> str:
    """A method of tensors, if it computes with them."""
    if not hasattr(Tensor, name) or name in _OUTSIDE or (name.startswith("_") and name != "__getitem__"):
        raise PascalError(f"it calls the method {name!r}, which no saved network does; only load files of pascal.save")
    return name


def check_attribute(function: Any, arguments: tuple[Any, ...]) -> None:
    """Of an activation, sizes may be read."""
    if function is getattr and (len(arguments) != 2 or arguments[1] not in _ATTRIBUTES):
        raise PascalError(f"it reads {arguments[1:]!r} of a tensor, which no saved network does")


def class_of(name: str) -> type[nn.Module]:
    """A class of torch.nn by name."""
    found = getattr(nn, name, None)
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise PascalError(f"it has a module {name!r}, expected a class of torch.nn or a neuron")
    return found
