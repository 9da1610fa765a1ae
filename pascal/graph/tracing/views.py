"""Values that share their memory: which call made a view, and how what is written into it reaches its parent."""

import itertools
import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.fx.proxy import TraceError

from pascal.graph.tracing.inplace import put
from pascal.graph.tracing.values import Value

if TYPE_CHECKING:
    from pascal.graph.tracing.tracer import NeuronTracer


_PARTS: dict[str, Any] = {  # the index of a view by its arguments
    "narrow": lambda dim, start, length: (*_leading(dim), slice(start, start + length or None)),
    "select": lambda dim, index: (*_leading(dim), index),
}
_SWAPS = {"transpose", "swapaxes", "swapdims", "t"}


def _leading(dim: int) -> tuple[Any, ...]:
    """The index of everything in front of a dimension."""
    if dim < 0:
        raise TraceError(f"a write along dimension {dim} cannot be followed; count it from the front")
    return (slice(None),) * dim


def alias_of(result: Value, operands: list[Value]) -> Value | None:
    """The operand whose memory the result of a call shares."""
    return next((value for value in operands if shares_memory(result.concrete, value.concrete)), None)


def shares_memory(one: Any, other: Any) -> bool:
    """Whether two results (tensors, or tuples of them) have memory in common."""
    return bool(_storages(one) & _storages(other))


def _storages(value: Any) -> set[int]:
    if isinstance(value, Tensor):
        return {value.untyped_storage()._cdata}
    return set().union(*map(_storages, value)) if isinstance(value, tuple | list) else set()


def write_back(tracer: "NeuronTracer", child: Value, name: str) -> list[Value]:
    """The values that `child` is a view of, brought up to date with it; marks those that cannot be."""
    chain: list[Value] = []
    while child.parent is not None:
        parent = child.parent
        chain.append(parent)
        written = None if parent.broken else _written(tracer, parent, child)
        if isinstance(parent.concrete, tuple | list):  # pieces of a tensor
            if parent.parent is None:
                break
            chain.append(parent.parent)
            parent.stale, parent = True, parent.parent
        if written is None:
            for ancestor in _ancestors(parent):
                ancestor.broken = ancestor.broken or name
                chain.append(ancestor)
            break
        parent.node, parent.concrete = written.node, written.concrete
        child = parent
    return chain


def _ancestors(value: Value | None) -> list[Value]:
    return [] if value is None else [value, *_ancestors(value.parent)]


def _written(tracer: "NeuronTracer", parent: Value, child: Value) -> Value | None:
    """The parent with the child's new value in its place."""
    _, target, args, kwargs = child.recipe
    if target in (operator.getitem, "__getitem__"):
        if isinstance(parent.concrete, tuple | list):
            return _piece_written(tracer, parent, args[1], child)
        return tracer._record("call_function", put, (parent, args[1], child), {})
    name = target if isinstance(target, str) else target.__name__
    if name in _PARTS:
        return tracer._record("call_function", put, (parent, _PARTS[name](*args[1:], **kwargs), child), {})
    if name in _SWAPS:  # twice is not at all
        return tracer._record(child.recipe[0], target, (child, *args[1:]), kwargs)
    before = parent.concrete
    if isinstance(before, Tensor) and before.numel() == child.concrete.numel() and before.is_contiguous():
        remade = tracer._execute(child.recipe[0], target, (_numbered(before), *args[1:]), kwargs)
        if isinstance(remade, Tensor) and torch.equal(remade.reshape(-1), torch.arange(before.numel())):
            size = tracer._record("call_method", "size", (parent,), {})
            return tracer._record("call_function", torch.reshape, (child, size), {})
    return None


def _numbered(like: Tensor) -> Tensor:
    return torch.arange(like.numel()).view(like.shape)


def _piece_written(tracer: "NeuronTracer", pieces: Value, number: Any, child: Value) -> Value | None:
    """One of the results of chunk, split or unbind."""
    whole = pieces.parent
    if whole is None or not isinstance(number, int) or not isinstance(whole.concrete, Tensor):
        return None
    _, target, args, kwargs = pieces.recipe
    name = target if isinstance(target, str) else target.__name__
    if name not in ("chunk", "split", "unbind"):
        return None
    dim = kwargs.get("dim", args[1 if name == "unbind" else 2] if len(args) > (1 if name == "unbind" else 2) else 0)
    dim, number = dim % whole.concrete.ndim, number % len(pieces.concrete)
    before = (slice(None),) * dim
    if name == "unbind":
        return tracer._record("call_function", put, (whole, (*before, number), child), {})
    ends = list(itertools.accumulate(piece.shape[dim] for piece in pieces.concrete))
    index = (*before, slice(ends[number] - pieces.concrete[number].shape[dim], ends[number]))
    return tracer._record("call_function", put, (whole, index, child), {})
