"""What a trace takes for granted about sizes, checked whenever the network runs."""

from typing import Any

from torch import fx

from pascal.errors import PascalError
from pascal.graph.leaf import leaf


@leaf
def expect(values: Any, size: Any, expected: Any) -> Any:
    """`values`, whose `size` decided which way the trace went; refuses images for which it would go another way."""
    if size != expected:
        raise PascalError(
            f"images: a size came out as {size}, the network was traced for {expected}; write x.shape[0] where len(x) "
            "asks for the batch, or pass example=images of the new shape to pascal.quantize or pascal.convert"
        )
    return values


fx.node.has_side_effect(expect)
