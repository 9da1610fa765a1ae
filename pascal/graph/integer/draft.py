"""An integer network while it is being written: each new call with its bound and its timesteps."""

from typing import Any

from torch import Tensor, fx, nn

from pascal.errors import PascalError
from pascal.graph.integer.modules import IntegerAffine, exact_dtype

ACCUMULATOR_BITS = 54  # with sign: float64, in which the engine adds, holds whole numbers below 2⁵³


class Draft:
    """Calls are appended one by one; `largest` holds for each the magnitudes (1, ...) that it cannot exceed."""

    def __init__(self) -> None:
        self.graph = fx.Graph()
        self.parts: dict[str, Any] = {}
        self.largest: dict[fx.Node, Any] = {}
        self.timesteps: dict[fx.Node, int] = {}
        self.spiking: set[fx.Node] = set()

    def keep(self, node: fx.Node, largest: Any, timesteps: int, path: str) -> fx.Node:
        """Note what is known of a new call."""
        self.checked(largest, path)
        self.largest[node], self.timesteps[node] = largest, timesteps
        return node

    def checked(self, largest: Any, path: str) -> float:
        """The largest of these magnitudes; refuses what could overflow."""
        bits = int(top(largest)).bit_length() + 1
        if bits > ACCUMULATOR_BITS:
            raise PascalError(
                f"{path}: needs an accumulator of {bits} bits, expected at most {ACCUMULATOR_BITS}; "
                "put a QCFS in front of it, or lower the levels of its producers"
            )
        return top(largest)

    def call(self, path: str, module: nn.Module, source: fx.Node, largest: Tensor, timesteps: int) -> fx.Node:
        """Append a call of a new module."""
        self.parts[path] = module
        return self.keep(self.graph.call_module(path, (source,)), largest, timesteps, path)

    def affine(
        self, path: str, source: fx.Node, multiplier: Tensor, timesteps: int, constant: Tensor | None = None
    ) -> fx.Node:
        """Append a multiplication and an addition of integers."""
        layer = IntegerAffine(multiplier, constant).to(self.largest[source].device)
        largest = layer.largest(self.largest[source])
        layer.multiplier = layer.multiplier.to(exact_dtype(top(largest), largest.device))
        return self.call(path, layer, source, largest, timesteps)


def top(largest: Any) -> float:
    """The largest of all magnitudes of a call, which may return several tensors."""
    if isinstance(largest, Tensor):
        return float(largest.max()) if largest.numel() else 0.0
    return max(map(top, largest))
