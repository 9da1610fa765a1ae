"""The readout, everything behind the last neurons: its name, and how far rounding can take it.

Where all counts agree, two networks hand the same numbers to their readouts, so that nothing before them matters. Every
output is a sum of products y = Σ w·x + b. Computed in whatever order, with m roundings on the way of any term, it is
off by at most γ(m)·(Σ|w|·|x| + |b|), γ(m) = m·u/(1 − m·u), with u the unit roundoff (Higham, Accuracy and Stability of
Numerical Algorithms, 3.1). Two networks differ by at most twice that. The sums of magnitudes are the readout itself
with every number in it made positive, run on the activations; m is counted call by call.
"""

from dataclasses import dataclass
from math import ceil, prod
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils._pytree import tree_leaves, tree_map_only

from pascal.errors import PascalError
from pascal.graph.measure import graph_of
from pascal.graph.network import SpikingNetwork
from pascal.graph.operations import LINEAR, WEIGHTED_MODULES, call_name, property_of
from pascal.graph.spike_flow import NEURONS
from pascal.graph.trace import call, module_of, path_of
from pascal.neurons.counting import CountingPASC

# Besides the terms of its sum, what a call may round: the step that joins a weight, the share of a constant among the
# timesteps, the product itself, a bias; and of a batch norm folded into a weight its root, quotient and products.
_CALL, _BATCH_NORM = 4, 10
_SUMS = ("add", "sub", "subtract", "rsub", "add_into", "iadd", "isub")
_PRODUCTS = ("mul", "multiply", "matmul", "mm", "bmm", "mv", "div", "divide", "true_divide", "truediv", "einsum",
             "tensordot", "addmm", "addmv", "addcmul", "conv1d", "conv2d", "conv3d", "linear", "conv_transpose1d",
             "conv_transpose2d", "conv_transpose3d")  # fmt: skip
_SIGNS = ("neg", "negative", "positive", "pos")


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
        share = (result.roundings + self.timesteps + _CALL) * roundoff
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
        kind, name = property_of(node, module), call_name(node, module)
        positive = tree_map_only(_Sum, lambda each: each.magnitude, (args, kwargs), is_leaf=_is_sum)
        if kind != LINEAR:  # moves, maxima and sizes round nothing
            result = call(self.graph, node, *positive)
            return result if kind == "shape" else _Sum(result, roundings)
        positive = tree_map_only(Tensor, torch.abs, positive)
        return self._linear(node, module, name, positive, roundings)

    def _activation(self, neuron: Any, count: Tensor) -> Tensor:
        count = count.to(neuron.step.dtype)
        if isinstance(neuron, CountingPASC):
            return neuron.hand_on(count.clone())
        return count * neuron.step.reshape(-1, *[1] * (count.ndim - 2))  # one for all, or one per channel

    def _linear(self, node: fx.Node, module: Any, name: str, positive: Any, roundings: int) -> _Sum:
        args, kwargs = positive
        if isinstance(module, _BatchNorm):
            return _Sum(_batch_norm(module, args[0]), roundings + _BATCH_NORM)
        if isinstance(module, WEIGHTED_MODULES):
            return _Sum(_positive(module, args[0]), roundings + _fan_in(module) + _CALL)
        if name in _SIGNS:
            return _Sum(args[0], roundings)
        if name in _SUMS:
            first, second = args if len(args) == 2 else (args[0], kwargs["other"])
            return _Sum(abs(first) + abs(kwargs.get("alpha", 1)) * abs(second), roundings + _CALL)
        if name == "lerp":  # a + w·(b − a)
            first, end, weight = [*tuple(args), *(kwargs[key] for key in ("end", "weight") if key in kwargs)]
            return _Sum(first + abs(weight) * (first + end), roundings + _CALL)
        if name in _PRODUCTS:
            args, kwargs = tree_map_only((int, float), abs, (args, kwargs)) if name in _PRODUCTS[:9] else (args, kwargs)
            result = call(self.graph, node, args, kwargs)
            source = next(each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor))
            return _Sum(result, roundings + _CALL + max(1, source[0].numel()))
        if not _averages(name, module, node):
            raise UnboundedError(path_of(node))
        result = call(self.graph, node, args, kwargs)
        return _Sum(result, roundings + _CALL + _window(module, node, args, kwargs, result))


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


def _positive(module: Any, magnitude: Tensor) -> Tensor:
    """The layer with |w| and |b|."""
    numbers = {name: number.abs() for name, number in module.named_parameters()}
    return torch.func.functional_call(module, numbers, (magnitude,))


def _fan_in(module: Any) -> int:
    outputs = module.weight.shape[1 if getattr(module, "transposed", False) else 0]
    return module.weight.numel() // outputs


def _batch_norm(norm: _BatchNorm, magnitude: Tensor) -> Tensor:
    """(|x| + |μ|)·|γ|/σ + |β|."""
    shape = (1, -1, *[1] * (magnitude.ndim - 2))
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = (norm.running_var + norm.eps).rsqrt()
    scale = scale if norm.weight is None else scale * norm.weight.abs()
    shift = 0.0 if norm.bias is None else norm.bias.abs().view(shape)
    return (magnitude + norm.running_mean.abs().view(shape)) * scale.view(shape) + shift


def _averages(name: str, module: Any, node: fx.Node) -> bool:
    """Whether all weights of the call are positive, so that it is its own bound."""
    mode = getattr(module, "mode", None) or node.kwargs.get("mode")
    known = any(part in name.lower() for part in ("mean", "sum", "avg", "interp", "upsamp", "pad"))
    return known and bool(mode != "bicubic")


def _window(module: Any, node: fx.Node, args: Any, kwargs: Any, result: Tensor) -> int:
    """An upper bound of how many elements one result is made of, from what the call was given."""
    source: Tensor = args[0] if args else kwargs["input"]
    kernel: Any = getattr(module, "kernel_size", None) or kwargs.get("kernel_size")
    if kernel is None and "avg_pool" in call_name(node, module) and "adaptive" not in call_name(node, module):
        kernel = args[1]
    if kernel is not None:
        return prod(kernel) if isinstance(kernel, tuple | list) else int(kernel) ** max(source.ndim - 2, 1)
    if source.ndim != result.ndim:
        return ceil(source.numel() / max(result.numel(), 1))
    sizes = zip(source.shape[1:], result.shape[1:], strict=True)
    return prod(ceil(before / after) + bool(before % after) for before, after in sizes)
