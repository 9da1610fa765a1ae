"""Functions of our own that stand in graphs: whoever traces such a graph again records the call as it stands."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from torch import fx

Function = TypeVar("Function", bound=Callable[..., Any])


def leaf(function: Function) -> Function:
    """As `torch.fx.wrap`, which keeps the code of every graph for ever and makes each trace slower."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for argument in args:
            if issubclass(type(argument), fx.Proxy):
                return argument.tracer.create_proxy("call_function", call, args, kwargs)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]
