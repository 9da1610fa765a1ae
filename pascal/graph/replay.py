"""Exchange one activation and run only what depends on it: the rest of the network is kept, not computed again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn

from pascal.errors import PascalError
from pascal.graph.passes import fold_batch_norm, separate_calls
from pascal.graph.trace import call, neuron_nodes, trace

Neurons = Mapping[str, nn.Module]  # by the path of the QCFS layer whose place each one takes


@dataclass(frozen=True, eq=False)
class Prefix:
    """What a run leaves behind: the logits, the neurons it ran with, and the values that later runs start from."""

    logits: Tensor
    neurons: Neurons
    values: dict[fx.Node, Any]

    @property
    def bytes(self) -> int:
        """Memory of the kept values."""
        return sum(value.numel() * value.element_size() for value in self.values.values() if isinstance(value, Tensor))


class Replay:
    """A network in evaluation mode, batch norm folded, whose QCFS layers can be exchanged.

    A QCFS that is called several times is one layer: all of its calls change together.
    """

    def __init__(self, ann: nn.Module) -> None:
        self._traced = trace(ann).eval()
        self._path = {node: str(node.target) for node, _ in neuron_nodes(self._traced)}
        separate_calls(self._traced)
        fold_batch_norm(self._traced)
        self._nodes = list(self._traced.graph.nodes)
        self._behind = {path: self._depending_on(path) for path in dict.fromkeys(self._path.values())}
        self._kept = {source for nodes in self._behind.values() for source in _read_from_outside(nodes)}
        self._done = {path: _done_after(nodes, set()) for path, nodes in self._behind.items()}
        self._done_in_all = _done_after(self._nodes, self._kept)

    @torch.inference_mode()
    def start(self, images: Tensor, neurons: Neurons) -> Prefix:
        """Run everything with the given neurons."""
        values: dict[fx.Node, Any] = {}
        logits = self._run(self._nodes, values, neurons, self._done_in_all, images)
        return Prefix(logits, neurons, {node: values[node] for node in self._kept})

    @torch.inference_mode()
    def rerun(self, prefix: Prefix, path: str, neuron: nn.Module) -> Tensor:
        """The logits with another neuron at `path`; only what stands behind it is computed."""
        neurons = {**prefix.neurons, path: neuron}
        return self._run(self._behind[path], dict(prefix.values), neurons, self._done[path])

    def _run(
        self,
        nodes: Iterable[fx.Node],
        values: dict[fx.Node, Any],
        neurons: Neurons,
        done: Mapping[fx.Node, list[fx.Node]],
        images: Tensor | None = None,
    ) -> Tensor:
        for node in nodes:
            args, kwargs = fx.map_arg((node.args, node.kwargs), values.__getitem__)
            if node.op == "output":
                return _logits(args[0])
            if node.op == "placeholder":
                values[node] = images
            elif node in self._path:
                values[node] = neurons[self._path[node]](*args, **kwargs)
            else:
                values[node] = call(self._traced, node, args, kwargs)
            for spent in done[node]:
                values.pop(spent, None)
        raise AssertionError("a graph ends with its output")

    def _depending_on(self, path: str) -> list[fx.Node]:
        depending: dict[fx.Node, None] = {}
        for node in self._nodes:
            if self._path.get(node) == path or any(source in depending for source in node.all_input_nodes):
                depending[node] = None
        if self._nodes[-1] not in depending:
            raise PascalError(f"layer {path!r}: the network's output does not depend on it; remove it")
        return list(depending)


def _read_from_outside(nodes: list[fx.Node]) -> set[fx.Node]:
    inside = set(nodes)
    return {source for node in nodes for source in node.all_input_nodes if source not in inside}


def _done_after(nodes: list[fx.Node], kept: set[fx.Node]) -> dict[fx.Node, list[fx.Node]]:
    """Which values nobody reads any more once a node has run, so that memory does not grow with depth."""
    last: dict[fx.Node, fx.Node] = {}
    for node in nodes:
        last.update(dict.fromkeys([node, *node.all_input_nodes], node))
    done: dict[fx.Node, list[fx.Node]] = {node: [] for node in nodes}
    for value, node in last.items():
        if value not in kept:
            done[node].append(value)
    return done


def _logits(output: Any) -> Tensor:
    if not isinstance(output, Tensor):
        raise PascalError(f"ann: returns {type(output).__name__}, expected one tensor, the logits")
    return output
