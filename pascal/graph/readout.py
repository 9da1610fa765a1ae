"""The readout, everything behind the last neurons: its name, and how far rounding can take it.

Where all counts agree, two networks hand the same numbers to their readouts, so that nothing before them matters. Every
output is a sum of products y = Σ w·x + b. Computed in whatever order, with m roundings on the way of any term, it is
off by at most γ(m)·(Σ|w|·|x| + |b|), γ(m) = m·u/(1 − m·u), with u the unit roundoff (Higham, Accuracy and Stability of
Numerical Algorithms, 3.1). Two networks differ by at most twice that. The sums of magnitudes are the readout itself
with every number in it made positive, run on the activations; m is counted call by call.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils._pytree import tree_leaves, tree_map_only

from pascal.errors import PascalError
from pascal.graph.measure import graph_of
from pascal.graph.network import SpikingNetwork
from pascal.graph.operations import SHAPE, WEIGHTED_MODULES, property_of
from pascal.graph.rounding import CALL, positive_sum
from pascal.graph.spike_flow import NEURONS
from pascal.graph.trace import call, module_of, path_of
from pascal.neurons.counting import CountingPASC


@dataclass(frozen=True)
class _Sum:
    """Magnitudes of what a call puts out, and how many roundings lie behind them."""

    magnitude: Any
    roundings: int


class UnboundedError(Exception):
    """A call whose rounding is not known here."""


class Readout:
    """The calls behind the last neurons of a network."""

    def __init__(self, model: nn.Module) -> None:
        self.graph, edges = graph_of(model)
        self.edges = set(edges)
        if not isinstance(model, SpikingNetwork):
            self.graph.eval()  # a copy of our own
        self._output = next(node for node in self.graph.graph.nodes if node.op == "output")
        self._calls = self._slice()
        simulated = isinstance(model, SpikingNetwork) and hasattr(model, "repeats_image")
        self.timesteps = max((edge.timesteps for edge in edges.values()), default=1)
        self._parts = self.timesteps if simulated else 1  # constants of a simulated network are shares of this many

    @property
    def names(self) -> list[str]:
        """Of each output: the weighted layer that it ends with, or its last call."""
        return [self._name(node) for node in tree_leaves(self._output.args[0]) if isinstance(node, fx.Node)]

    def _name(self, node: fx.Node) -> str:
        found = node
        while not isinstance(module_of(self.graph, found), (*WEIGHTED_MODULES, *NEURONS)):
            before = [source for source in found.all_input_nodes if source in self.edges]
            if len(before) != 1:
                return path_of(node)
            found = before[0]
        return path_of(found)

    def _slice(self) -> list[fx.Node]:
        """What the output needs, back to neurons and images, in forward order."""
        needed, frontier = set[fx.Node](), [self._output]
        while frontier:
            for source in frontier.pop().all_input_nodes:
                if source not in needed:
                    needed.add(source)
                    if not self._is_neuron(source):
                        frontier.append(source)
        return [node for node in self.graph.graph.nodes if node in needed]

    def _is_neuron(self, node: fx.Node) -> bool:
        return isinstance(module_of(self.graph, node), NEURONS)

    @torch.no_grad()
    def bounds(self, images: Tensor, counts: dict[str, Tensor], roundoff: float) -> list[Tensor]:
        """How far each output of two networks with these counts may be apart."""
        values: dict[fx.Node, Any] = {}
        for node in self._calls:
            values[node] = self._value(node, values, images, counts)
        results = fx.map_arg(self._output.args[0], values.__getitem__)
        return [self._bound(result, roundoff) for result in _leaves(results)]

    def _bound(self, result: Any, roundoff: float) -> Tensor:
        if not isinstance(result, _Sum) or not isinstance(result.magnitude, Tensor):
            raise UnboundedError("an output that is no sum")
        share = (result.roundings + self.timesteps + CALL) * roundoff
        if share >= 0.5:
            raise UnboundedError(f"{result.roundings} roundings of {roundoff:.3g}")
        return 2 * share / (1 - share) * result.magnitude.double() * self._parts

    def _value(self, node: fx.Node, values: dict[fx.Node, Any], images: Tensor, counts: dict[str, Tensor]) -> Any:
        if node.op == "placeholder":
            return _Sum(images.abs() / self._parts, 0)
        module = module_of(self.graph, node)
        if isinstance(module, NEURONS):
            return _Sum(self._activation(module, counts[str(node.target)]) / self._parts, 1)
        args, kwargs = fx.map_arg((node.args, node.kwargs), values.__getitem__)
        sums = [each for each in _leaves((args, kwargs)) if isinstance(each, _Sum)]
        if not sums:
            return call(self.graph, node, args, kwargs)
        roundings = max(each.roundings for each in sums)
        magnitudes = tree_map_only(_Sum, lambda each: each.magnitude, (args, kwargs), is_leaf=_is_sum)
        if property_of(node, module) == SHAPE:
            return call(self.graph, node, *magnitudes)
        magnitude, added = positive_sum(self.graph, node, *magnitudes)
        return _Sum(magnitude, roundings + added)

    def _activation(self, neuron: Any, count: Tensor) -> Tensor:
        count = count.to(neuron.step.dtype)
        if isinstance(neuron, CountingPASC):
            return neuron.hand_on(count.clone())
        return count * neuron.step.reshape(-1, *[1] * (count.ndim - 2))  # one for all, or one per channel


def readout_of(model: nn.Module) -> Readout | None:
    """The readout of a network that can be traced."""
    try:
        return Readout(model)
    except PascalError:
        return None


def _is_sum(value: Any) -> bool:
    return isinstance(value, _Sum)


def _leaves(tree: Any) -> list[Any]:
    return tree_leaves(tree, is_leaf=_is_sum)
