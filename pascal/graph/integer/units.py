"""What the integer 1 is worth on every edge.

Pixels and spikes have the unit they are given: the pixels' step, the neuron's step. Calls that move values move units
with them, so that a concatenation of layers with different steps has a unit per channel, and a weighted layer takes
it into its weights. Units of currents are agreed on where they meet (`meetings.py`).
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm

from pascal.errors import PascalError
from pascal.graph.integer.channels import along_channels, channel_units
from pascal.graph.integer.meetings import find_meetings
from pascal.graph.integer.roles import IMAGE, NEURON, POOL, SCALE, SUM, WEIGHTED, divisor_of, roles_of
from pascal.graph.operations import MAXIMUM
from pascal.graph.timesteps import Edges
from pascal.graph.trace import call, module_of, path_of


class Units:
    """Units of all edges of a network, for images of one size: tensors (1, ...) in float64.

    `example` holds the value of every call on one image; its shapes count, not its numbers.
    """

    def __init__(self, graph: fx.GraphModule, edges: Edges, example: dict[fx.Node, Any], pixel_step: float) -> None:
        self.graph, self.edges, self.example, self.pixel_step = graph, edges, example, pixel_step
        self.roles = roles_of(graph, edges)
        self._units: dict[fx.Node, Any] = {}
        self.meetings = find_meetings(self)

    def of(self, node: fx.Node) -> Any:
        """The unit at each position of an edge; 0 where the value is always 0. A tuple, where the edge is one."""
        if node not in self._units:
            self._units[node] = self._unit(node)
        return self._units[node]

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
        return divisor_of(node, module_of(self.graph, node), tuple(before.shape[1:]), tuple(after.shape[1:]))

    def factor(self, node: fx.Node) -> Tensor:
        """The constant of a product, quotient or negation."""
        ones = torch.ones((), dtype=torch.float64)
        return torch.as_tensor(self.run(node, lambda _: ones), dtype=torch.float64)

    def step(self, neuron: fx.Node) -> float:
        """The step of a QCFS."""
        return float(module_of(self.graph, neuron).step)  # type: ignore[union-attr, arg-type]

    def layer(self, node: fx.Node) -> tuple[Tensor, Tensor]:
        """Weight and bias of a weighted layer in float64, as they act on the integers that it reads."""
        module: Any = module_of(self.graph, node)
        axis = -1 if isinstance(module, nn.Linear) else 1
        unit = channel_units(self.of(self.sources(node)[0]), axis, path_of(node))
        if isinstance(module, _BatchNorm):
            return _batch_norm(module, unit)
        weight = module.weight.double()
        bias = weight.new_zeros(len(weight)) if module.bias is None else module.bias.double()
        if isinstance(module, nn.Linear):
            return weight * unit, bias
        unit = unit.view(module.groups, 1, -1).expand(-1, len(weight) // module.groups, -1).reshape(len(weight), -1)
        return weight * unit.view(*unit.shape, *[1] * (weight.ndim - 2)), bias

    def _unit(self, node: fx.Node) -> Any:
        role, sources, example = self.roles[node], self.sources(node), self.example[node]
        if role == IMAGE:
            return torch.full_like(example, self.pixel_step, dtype=torch.float64)
        if role == NEURON:
            return torch.full_like(example, self.step(node), dtype=torch.float64)
        if role in (WEIGHTED, SUM):
            return along_channels(self.meetings[node].unit(self, role), example)
        if role == SCALE:
            return self.of(sources[0]) * self.factor(node).abs()
        if role == POOL:
            return self._pooled(node, sources[0])
        moved = self.run(node, self.of)
        if role == MAXIMUM and not torch.equal(moved, self._smallest(node, moved)):
            raise PascalError(f"{path_of(node)}: a maximum over channels of different steps; pool each on its own")
        return moved

    def _smallest(self, node: fx.Node, largest: Tensor) -> Tensor:
        """The smallest unit in each window of a max pooling."""
        negated = self.run(node, lambda source: -torch.where(self.of(source) == 0, torch.inf, self.of(source)))
        return torch.where(largest == 0, largest, -negated)

    def _pooled(self, node: fx.Node, source: fx.Node) -> Tensor:
        unit, example = self.of(source) / self.divisor(node), self.example[node]
        if len(unit[unit > 0].unique()) == 1:
            return torch.full_like(example, float(unit.max()), dtype=torch.float64)
        if unit.shape[1] != example.shape[1]:
            raise PascalError(f"{path_of(node)}: a mean over channels of different steps; pool each on its own")
        return along_channels(channel_units(unit, 1, path_of(node)), example)


def _batch_norm(module: _BatchNorm, unit: Tensor) -> tuple[Tensor, Tensor]:
    """Batch norm as one weight and one bias per channel."""
    gain = (module.running_var.double() + module.eps).rsqrt()  # type: ignore[union-attr]
    gain = gain if module.weight is None else gain * module.weight.double()
    bias = -gain * module.running_mean.double()  # type: ignore[union-attr]
    return (gain * unit)[:, None], bias if module.bias is None else bias + module.bias.double()
