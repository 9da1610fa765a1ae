"""What is known of a call from what it reads: its values on the probe, its size, whether it is zero."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn
from torch.fx.node import map_aggregate
from torch.fx.proxy import Attribute

from pascal.graph.tracing.values import Value

_READS_SHAPE = {
    *("size", "shape", "dim", "ndim", "ndimension", "numel", "nelement", "dtype", "device", "is_cuda", "layout"),
    *("is_floating_point", "is_complex", "stride", "is_contiguous", "storage_offset", "len", "element_size"),
}
_FILLED = {"zeros_like", "full_like", "ones_like", "new_zeros", "new_full", "new_ones"}  # whatever the values are


def input_first(args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The operand of a call by position, as most calls have it anyway."""
    name = next((name for name in ("input", "tensors") if name in kwargs), "")
    name = name or (next(iter(kwargs)) if len(kwargs) == 1 and type(next(iter(kwargs.values()))) is Value else "")
    if args or not name:
        return args, kwargs
    return (kwargs[name],), {key: value for key, value in kwargs.items() if key != name}


def values_of(arguments: Any) -> Iterator[Value]:
    """The stand-ins among the arguments of a call."""
    found: list[Value] = []
    map_aggregate(arguments, lambda leaf: found.append(leaf) if type(leaf) is Value else None)
    yield from found


def concrete_of(arguments: Any) -> Any:
    """The arguments with the values that stand-ins have on the probe."""

    def value(leaf: Any) -> Any:
        if type(leaf) is Attribute:
            return getattr(leaf.root.concrete, leaf.attr)
        return leaf.concrete if type(leaf) is Value else leaf

    return map_aggregate(arguments, value)


def is_sized(values: list[Value], call: str) -> bool:
    """Whether the result of a call is known from shapes alone."""
    return all(value.sized or (isinstance(value.concrete, Tensor) and call in _READS_SHAPE) for value in values)


def is_zero(kind: str, call: str, concrete: Any, values: list[Value]) -> bool | None:
    """Whether a tensor is zero; None of what depends on images or is trained."""
    known = all(value.sized or value.node.meta.get("zero") is not None for value in values) or call in _FILLED
    constant = (
        known and kind != "placeholder" and isinstance(concrete, Tensor) and not isinstance(concrete, nn.Parameter)
    )
    return not bool(concrete.any()) if constant and not concrete.is_meta else None
