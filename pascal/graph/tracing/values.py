"""Stand-ins for tensors while a forward is traced."""

import math
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torch import Tensor, fx
from torch.fx.proxy import Attribute, TraceError

if TYPE_CHECKING:
    from pascal.graph.tracing.tracer import NeuronTracer

_OWN = {"node", "tracer", "concrete", "parent", "recipe", "stale", "broken", "sized", "origin", "fixed"}


class Value(fx.Proxy):
    """A tensor object, or a number read from its shape: `node` is the call whose result it holds at this moment.

    `concrete` is its value on the probe. A view remembers the value it is a view of (`parent`) and the call that made
    it (`recipe`), so that what is written through one of them is seen by the other.
    """

    tracer: "NeuronTracer"

    def __init__(self, node: fx.Node, tracer: "NeuronTracer") -> None:
        super().__init__(node, tracer)
        self.concrete: Any = None
        self.parent: Value | None = None
        self.recipe: Any = None
        self.stale = False
        self.broken = ""  # the write that this value cannot follow
        self.sized = False  # known from shapes alone
        self.fixed = False  # the same for all images
        self.origin: Value | None = None  # the tensor whose shape it was read from

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # type: ignore[override]
        """A tensor's stand-in passes for a tensor, a size's for a number."""
        concrete = self.__dict__.get("concrete")
        return Tensor if isinstance(concrete, Tensor) else type(concrete) if isinstance(concrete, int) else Value

    def __getattr__(self, name: str) -> Any:
        if name in _OWN or (name.startswith("__") and name not in ("__setitem__", "__getitem__")):
            raise AttributeError(name)
        if callable(getattr(self.concrete, name, None)):
            return Attribute(self, name)
        return self.tracer.create_proxy("call_function", getattr, (self, name), {})

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _OWN:
            raise TraceError(f"an assignment to the attribute {name!r} of a tensor cannot be followed")
        object.__setattr__(self, name, value)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.tracer.create_proxy("call_function", operator.setitem, (self, index, value), {})

    def __iter__(self) -> Iterator["Value"]:  # type: ignore[override]
        return iter([self[number] for number in range(len(self))])  # type: ignore[index]

    def __len__(self) -> int:
        return self.tracer.known(self, len)

    def __bool__(self) -> bool:
        return self.tracer.known(self, bool)

    def __int__(self) -> int:
        return self.tracer.known(self, int)

    def __index__(self) -> int:
        return self.tracer.known(self, int)

    def __float__(self) -> float:
        return self.tracer.known(self, float)

    def __ceil__(self) -> int:
        return self.tracer.known(self, math.ceil)

    def __floor__(self) -> int:
        return self.tracer.known(self, math.floor)

    def __trunc__(self) -> int:
        return self.tracer.known(self, math.trunc)

    def __round__(self, digits: int | None = None) -> Any:
        return self.tracer.known(self, lambda number: round(number, digits))

    def __contains__(self, item: Any) -> bool:
        return self.tracer.known(self, lambda values: item in values)

    def __format__(self, specification: str) -> str:
        return format(self.concrete if self.sized else repr(self), specification)


def _augmented(name: str) -> Any:
    target = getattr(operator, name)
    return lambda self, other: self.tracer.create_proxy("call_function", target, (self, other), {})


for _name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "imatmul"):
    setattr(Value, f"__{_name}__", _augmented(_name))
