"""The several spellings of a maximum, written as one: `torch.amax` along dimensions, `torch.maximum` of two tensors."""

import operator
from typing import Any

import torch
from torch import fx

from pascal.graph.arguments import argument

_MAXIMA = ("max", torch.max)


def spell_maxima(graph: fx.Graph) -> None:
    """`max` of two tensors, and along a dimension where nobody asks for the indices."""
    for node in list(graph.nodes):
        if node.op in ("call_function", "call_method") and node.target in _MAXIMA:
            other = argument(node, 1, "other", argument(node, 1, "dim"))
            if isinstance(other, fx.Node):
                _replace(graph, node, torch.maximum, (node.args[0], other))
            elif isinstance(other, int) and all(_reads_values(user) for user in node.users):
                keep = argument(node, 2, "keepdim", False)
                for user in list(node.users):
                    _replace(graph, user, torch.amax, (node.args[0], other, keep), node)
                graph.erase_node(node)


def _reads_values(user: fx.Node) -> bool:
    return (user.target, *user.args[1:]) in ((operator.getitem, 0), (getattr, "values"))


def _replace(graph: fx.Graph, node: fx.Node, target: Any, args: tuple[Any, ...], like: fx.Node | None = None) -> None:
    with graph.inserting_before(node):
        replacement = graph.call_function(target, args)
    replacement.meta = dict((like or node).meta)
    node.replace_all_uses_with(replacement)
    graph.erase_node(node)
