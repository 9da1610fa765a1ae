"""The calls of a network for images of one size: the role of each, what it reads, and what it does to given values."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx

from pascal.graph.integer.roles import divisor_of, roles_of
from pascal.graph.timesteps import Edges
from pascal.graph.trace import call, module_of


class Calls:
    """`example` holds the value of every call on one image; its shapes count, not its numbers."""

    def __init__(self, graph: fx.GraphModule, edges: Edges, example: dict[fx.Node, Any]) -> None:
        self.graph, self.edges, self.example = graph, edges, example
        self.roles = roles_of(graph, edges)

    def run(self, node: fx.Node, value: Callable[[fx.Node], Any]) -> Any:
        """Execute a call on `value(edge)` in the place of each edge that it reads."""

        def chosen(source: fx.Node) -> Any:
            return value(source) if source in self.edges else self.example[source]

        args, kwargs = fx.map_arg((node.args, node.kwargs), chosen)
        return call(self.graph, node, args, kwargs)

    def sources(self, node: fx.Node) -> list[fx.Node]:
        """The edges that a call reads."""
        return [source for source in node.all_input_nodes if source in self.edges]

    def divisor(self, node: fx.Node) -> int:
        """What the means of a pooling are multiplied by to be whole."""
        before, after = self.example[self.sources(node)[0]], self.example[node]
        shapes = tuple(before.shape[1:]), tuple(after.shape[1:])
        return divisor_of(node, module_of(self.graph, node), *shapes, self.example)

    def factor(self, node: fx.Node) -> Tensor:
        """The constant of a product, quotient or negation."""
        ones = torch.ones((), dtype=torch.float64)
        return torch.as_tensor(self.run(node, lambda _: ones), dtype=torch.float64)

    def step(self, neuron: fx.Node) -> Tensor:
        """The step of a QCFS in float64: one, or one per channel."""
        return module_of(self.graph, neuron).step.detach().double()  # type: ignore[union-attr, operator]
