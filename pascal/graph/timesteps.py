"""How many timesteps travel on each edge, and which calls the theorems do not cover."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from pascal.errors import PascalError
from pascal.graph.operations import LINEAR, MAXIMUM, SHAPE, STRUCTURAL, call_name, property_of, remedy_for
from pascal.graph.trace import DROPOUTS, module_of, path_of
from pascal.neurons import QCFS


@dataclass(frozen=True)
class Edge:
    """What a call hands on: a train of `timesteps` values whose sum over time is the ANN's value."""

    timesteps: int
    producers: frozenset[str] = frozenset()
    earliest_first: bool = True  # a thermometer code; one timestep is one trivially


@dataclass(frozen=True)
class Refusal:
    """A call that does not convert, with the reason and the remedy."""

    path: str
    call: str
    remedy: str

    def __str__(self) -> str:
        return f"  {self.path} ({self.call}): {self.remedy}"


Edges = dict[fx.Node, Edge]  # constants and sizes have no edge


def count_timesteps(traced: fx.GraphModule, any_maxima: bool = False) -> Edges:
    """The edge behind each call that carries activations; refuses, in one error, all calls that cannot be exact."""
    edges, refusals = _analyse(traced, any_maxima)
    if refusals:
        listed = "\n".join(map(str, refusals))
        raise PascalError(f"{len(refusals)} calls cannot be converted exactly:\n{listed}")
    return edges


def maxima_of_spikes(traced: fx.GraphModule, edges: Edges) -> tuple[str, ...]:
    """Paths of max poolings behind a neuron: exact on PASC's trains, not on others."""
    calls = [node for node, edge in edges.items() if edge.producers]
    return tuple(path_of(node) for node in calls if property_of(node, module_of(traced, node)) == MAXIMUM)


def _analyse(traced: fx.GraphModule, any_maxima: bool) -> tuple[Edges, list[Refusal]]:
    """Edges and refusals of a whole graph; a refused call is passed over so that all of them are found."""
    edges: Edges = {}
    refusals: list[Refusal] = []
    for node in traced.graph.nodes:
        arriving = [edges[source] for source in node.all_input_nodes if source in edges]
        if node.op == "placeholder":
            if edges:
                refusals.append(Refusal(node.name, "input", "the network must take one tensor, the images"))
            edges[node] = Edge(1)
        elif node.op == "output":
            if not isinstance(node.args[0], fx.Node) or node.args[0] not in edges:
                refusals.append(Refusal("output", "output", "the network must return one tensor, the logits"))
        elif arriving:
            module = module_of(traced, node)
            remedy = _why_not(node, module, edges, any_maxima)
            if remedy:
                refusals.append(Refusal(path_of(node), call_name(node, module), remedy))
            edge = _edge(node, module, arriving)
            if edge:  # behind a refused call, assume the best: one fault, one line
                edges[node] = replace(edge, earliest_first=True) if remedy else edge
    return edges, refusals


def _edge(node: fx.Node, module: nn.Module | None, arriving: list[Edge]) -> Edge | None:
    if isinstance(module, QCFS):
        return Edge(module.levels, frozenset({str(node.target)}))
    kind = property_of(node, module)
    if kind == SHAPE:
        return None
    timesteps = max(edge.timesteps for edge in arriving)
    producers = frozenset().union(*(edge.producers for edge in arriving))
    sorted_inputs = all(edge.earliest_first for edge in arriving)
    # Trains of different steps must not meet in one pooling window, so channels may not be mixed with space.
    unmixed = len(producers) <= 1 or call_name(node, module) in _KEEPS_CHANNELS or _joins_channels(node)
    earliest_first = timesteps == 1 or (kind in (STRUCTURAL, MAXIMUM) and sorted_inputs and unmixed)
    return Edge(timesteps, producers, earliest_first)


_KEEPS_CHANNELS = {"MaxPool2d", "max_pool2d", "Dropout", "Dropout2d", "Identity", "chunk", "split", "getitem", "clone",
                   "contiguous", "ZeroPad2d", "pad", "stochastic_depth"}  # fmt: skip


def _joins_channels(node: fx.Node) -> bool:
    dim = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)
    return node.target in (torch.cat, torch.concat) and bool(dim == 1)


def _why_not(node: fx.Node, module: nn.Module | None, edges: Edges, any_maxima: bool) -> str | None:
    """The remedy if this call cannot be exact, else None."""
    if isinstance(module, QCFS):
        return None
    kind = property_of(node, module)
    if kind is None:
        return remedy_for(call_name(node, module))
    if kind == MAXIMUM:
        return None if any_maxima else _why_not_maximum(node, module, edges)
    if kind == LINEAR:
        return _why_not_linear(node, module, edges)
    if node.target is getattr and node.args[1] not in ("shape", "ndim", "device", "dtype"):
        return "only shape, ndim, device and dtype can be read from an activation"
    if node.target is F.pad and _argument(node, 3, "value", None) not in (None, 0, 0.0):
        return "pad with zeros: another value is not a spike"
    if node.target in DROPOUTS:
        return "dropout that stays on at inference is random; pass training=self.training"
    return None if _reads_first_only(node, edges) else "an activation used as an index depends on the data"


def _why_not_maximum(node: fx.Node, module: nn.Module | None, edges: Edges) -> str | None:
    if getattr(module, "return_indices", False) or node.kwargs.get("return_indices"):
        return "indices of maxima have no spiking counterpart; set return_indices=False"
    source = node.args[0] if node.args else node.kwargs["input"]
    if edges[source].earliest_first:  # type: ignore[index]
        return None
    return "max pooling is exact on spikes only: put it directly behind a QCFS, or use average pooling"


def _why_not_linear(node: fx.Node, module: nn.Module | None, edges: Edges) -> str | None:
    if isinstance(module, _BatchNorm) and module.running_mean is None:
        return "batch norm without running statistics depends on the batch; set track_running_stats=True"
    if call_name(node, module) in ("add", "sub"):
        return None
    return None if _reads_first_only(node, edges) or _scales(node, edges) else "a product of activations is not linear"


def _reads_first_only(node: fx.Node, edges: Edges) -> bool:
    """Whether activations enter as the first argument alone (a list of tensors counts as one argument)."""
    later = (node.args[1:], {name: value for name, value in node.kwargs.items() if name not in ("input", "tensors")})
    return not _activations(later, edges)


def _scales(node: fx.Node, edges: Edges) -> bool:
    """Whether a product has one activation and otherwise constants."""
    return call_name(node, None) in ("mul", "matmul") and len(_activations((node.args, node.kwargs), edges)) == 1


def _activations(arguments: Any, edges: Edges) -> list[fx.Node]:
    """The activations among arguments, as often as they stand there: x * x has two."""
    nodes: list[fx.Node] = []
    fx.map_arg(arguments, nodes.append)
    return [node for node in nodes if node in edges]


def _argument(node: fx.Node, position: int, name: str, default: object) -> object:
    return node.args[position] if len(node.args) > position else node.kwargs.get(name, default)
