"""How many timesteps travel on each edge, and which calls the theorems do not cover."""

import operator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn
from torch.nn.modules.conv import _ConvNd
from torch.utils._pytree import tree_leaves

from pascal.errors import PascalError
from pascal.graph.arguments import argument
from pascal.graph.labels import CONSTANT, FIRST, GRADED, MIXED, Labels
from pascal.graph.operations import (
    LINEAR,
    MAXIMUM,
    SHAPE,
    STRUCTURAL,
    Operation,
    call_name,
    operation_of,
    property_of,
    terms_of,
)
from pascal.graph.settings import remedy_for
from pascal.graph.trace import module_of, path_of
from pascal.neurons import QCFS


@dataclass(frozen=True)
class Edge:
    """What a call hands on: a train of `timesteps` values whose sum over time is the ANN's value."""

    timesteps: int
    producers: frozenset[str] = frozenset()
    label: int = FIRST  # whose spikes these are, for maxima (labels.py)
    places: int | None = None  # axes behind the channels, where a layer has told


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
    edges, refusals = analyse(traced, any_maxima)
    if refusals:
        listed = "\n".join(map(str, refusals))
        raise PascalError(f"{len(refusals)} calls cannot be converted exactly:\n{listed}")
    if not traced.meta.get("images_apart", True):
        raise PascalError(
            "what the network returns for an image depends on the other images of the batch; leave dimension 0 alone "
            "in sums, means, flips and concatenations"
        )
    return edges


def maxima_of_spikes(traced: fx.GraphModule, edges: Edges) -> tuple[str, ...]:
    """Paths of max poolings behind a neuron: exact on PASC's trains, not on others."""
    calls = [node for node, edge in edges.items() if edge.producers]
    return tuple(path_of(node) for node in calls if property_of(node, module_of(traced, node)) == MAXIMUM)


def analyse(traced: fx.GraphModule, any_maxima: bool = False) -> tuple[Edges, list[Refusal]]:
    """Edges and refusals of a whole graph; a refused call is passed over so that all of them are found."""
    edges: Edges = {}
    refusals: list[Refusal] = []
    labels = Labels(traced, edges)
    for node in traced.graph.nodes:
        arriving = [edges[source] for source in node.all_input_nodes if source in edges]
        if node.op == "placeholder":
            if edges:
                refusals.append(Refusal(node.name, "input", "the network must take one tensor, the images"))
            edges[node] = Edge(1)
        elif node.op == "output":
            outputs = tree_leaves(node.args[0])
            if not outputs or any(output not in edges for output in outputs):
                refusals.append(Refusal("output", "output", _OUTPUTS))
        elif arriving:
            module = module_of(traced, node)
            row = operation_of(node, module)
            remedy = None if isinstance(module, QCFS) else _why_not(node, module, row, edges)
            edge = _edge(node, module, row, edges, arriving)
            judged = row is not None and row.kind == MAXIMUM and not remedy and not any_maxima
            if edge and judged and not _agrees(labels, node, edge, arriving[0]):
                remedy = _NO_MAXIMUM if edge.label == GRADED else _SEVERAL_STEPS
            if remedy:
                refusals.append(Refusal(path_of(node), call_name(node, module), remedy))
            if edge:  # behind a refused call, assume the best: one fault, one line
                edges[node] = replace(edge, label=FIRST) if remedy else edge
    return edges, refusals


_OUTPUTS = "the network must return logits, or a tuple, list or dict of tensors that it computes from the images"
_NO_MAXIMUM = "max pooling is exact on spikes only: put it directly behind a QCFS, or use average pooling"
_SEVERAL_STEPS = (
    "max pooling is exact on spikes only, and spikes of different steps may meet in one window: pool each producer and "
    "channel on its own, directly behind a QCFS, or give the QCFS one threshold"
)


def _agrees(labels: Labels, node: fx.Node, edge: Edge, source: Edge) -> bool:
    """Whether the spikes of every window have one step, on the probe and by the axes of the call at any other size."""
    axes = call_name(node, module_of(labels.traced, node)).removesuffix("d")[-1]
    return (edge.label != MIXED or axes == str(source.places)) and labels.agree(node, edge)


def _edge(
    node: fx.Node, module: nn.Module | None, row: Operation | None, edges: Edges, arriving: list[Edge]
) -> Edge | None:
    if isinstance(module, QCFS):
        one_step = module.raw_threshold.ndim == 0
        label = FIRST if module.levels == 1 else len(edges) + 3 if one_step else MIXED
        return Edge(module.levels, frozenset({str(node.target)}), label, arriving[0].places)
    if row is not None and (row.kind == SHAPE or (row.for_its_shape and not _terms_in(node, row, edges))):
        return None
    timesteps = max(edge.timesteps for edge in arriving)
    producers = frozenset().union(*(edge.producers for edge in arriving))
    kept = row is None or row.kind != STRUCTURAL or _keeps_channels(node, module)
    places = _places(node, module, arriving) if kept else None
    return Edge(timesteps, producers, _label(node, row, edges, timesteps), places)


def _terms_in(node: fx.Node, row: Operation, edges: Edges) -> bool:
    """Whether any of the terms is an activation."""
    return any(leaf in edges for _, term in terms_of(node, row) for leaf in _leaves(term))


def _label(node: fx.Node, row: Operation | None, edges: Edges, timesteps: int) -> int:
    if timesteps == 1:
        return FIRST
    if row is None or row.kind == LINEAR:
        return GRADED
    terms = [leaf for _, term in terms_of(node, row) for leaf in _leaves(term)]
    labels = {edges[leaf].label if leaf in edges else CONSTANT for leaf in terms}
    return labels.pop() if len(labels) == 1 else MIXED


def _keeps_channels(node: fx.Node, module: nn.Module | None) -> bool:
    """Whether a call that moves values leaves each among those of its own channel, and the axes as they are."""
    if node.target is operator.getitem and not _is_part(node.args[0]):
        index = node.args[1] if isinstance(node.args[1], tuple) else (node.args[1],)
        return all(isinstance(part, slice) or part is Ellipsis for part in index)
    return call_name(node, module) in _KEEPS_CHANNELS or _joins_channels(node)


def _is_part(source: Any) -> bool:
    """Whether a call returns several tensors."""
    return isinstance(source, fx.Node) and call_name(source, None) in ("chunk", "split")


def _places(node: fx.Node, module: nn.Module | None, arriving: list[Edge]) -> int | None:
    """Axes behind the channels: those of a convolution or batch norm, and whatever arrives at calls that keep them."""
    if isinstance(module, _ConvNd):
        return len(module.kernel_size)
    if isinstance(module, nn.BatchNorm2d | nn.BatchNorm3d):
        return 2 if isinstance(module, nn.BatchNorm2d) else 3
    found = {edge.places for edge in arriving}
    return found.pop() if len(found) == 1 and call_name(node, module) not in ("mean", "sum", "matmul") else None


_KEEPS_CHANNELS = {"Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Identity", "chunk", "split", "getitem", "clone",
                   "contiguous", "detach", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d", "pad", "stochastic_depth",
                   "ChannelShuffle", "channel_shuffle"}  # fmt: skip


def _joins_channels(node: fx.Node) -> bool:
    return node.target in (torch.cat, torch.concat) and bool(argument(node, 1, "dim", 0) == 1)


def _why_not(node: fx.Node, module: nn.Module | None, row: Operation | None, edges: Edges) -> str | None:
    """The remedy if this call cannot be exact, else None."""
    if row is None:
        return remedy_for(call_name(node, module))
    bound = row.bind(node)
    if row.kind == SHAPE:
        return None
    if bound.get("dtype") is not None:
        return "another dtype rounds; leave dtype out"
    factors = [leaf for name in row.factors for leaf in _leaves(bound.get(name)) if leaf in edges]
    if len(factors) > 1:
        return _NO_PRODUCT
    settings = {name: value for name, value in bound.items() if name not in (*row.terms, *row.factors)}
    if not row.for_its_shape and any(leaf in edges for leaf in _leaves(settings)):
        return _NO_PRODUCT if row.kind == LINEAR else "an activation used as an index depends on the data"
    return row.why_not(bound)


_NO_PRODUCT = "a product of activations is not linear"


def _leaves(argument: Any) -> list[Any]:
    """The values among nested arguments, as often as they stand there: x * x has two."""
    leaves: list[Any] = []
    fx.node.map_aggregate(argument, leaves.append)
    return [leaf for leaf in leaves if isinstance(leaf, fx.Node | int | float)]
