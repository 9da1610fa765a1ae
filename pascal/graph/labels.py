"""Whose spikes stand where: a maximum is exact where all spikes of its window have one step.

Trains are earliest-first, so the maximum of spikes of one neuron layer is the maximum of their counts. Zeros are silent
and join any window; what happens in the first timestep alone (images, one level) is a value like any other.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, fx
from torch.utils._pytree import tree_map_only

from pascal.graph.images import dtype_and_device
from pascal.graph.trace import call, module_of
from pascal.neurons import QCFS

if TYPE_CHECKING:
    from pascal.graph.timesteps import Edge

GRADED, MIXED, FIRST, CONSTANT = -1, 0, 1, 2  # currents; several labels; first timestep only; the same at each timestep

_CHANNELS = 10_000  # labels of one layer's channels lie within this distance


class Labels:
    """Labels of every element, worked out on the probe's shape where an edge carries more than one."""

    def __init__(self, traced: fx.GraphModule, edges: dict[fx.Node, "Edge"]) -> None:
        self.traced, self.edges = traced, edges
        self._example: dict[fx.Node, Any] = {}

    def agree(self, node: fx.Node, edge: "Edge") -> bool:
        """Whether every window of this maximum holds spikes of one label."""
        if edge.label != MIXED:
            return edge.label != GRADED
        with torch.no_grad():
            largest = self._run(node, self._of)
            lowest = self._run(node, lambda source: tree_map_only(Tensor, _negated, self._of(source)))
            smallest = torch.where(lowest == -torch.inf, 0.0, -lowest)
            return bool((largest == smallest).all()) and not bool((largest == GRADED).any())

    def _of(self, node: fx.Node) -> Any:
        edge, example = self.edges[node], self._examples()[node]
        if edge.label != MIXED:
            return tree_map_only(Tensor, lambda value: torch.full_like(value, edge.label), example)
        if isinstance(module_of(self.traced, node), QCFS):  # a step for each channel
            own = torch.arange(example.shape[1], dtype=example.dtype, device=example.device)
            own = own.view(1, -1, *[1] * (example.ndim - 2)).expand_as(example)
            return own + _CHANNELS * (1 + list(self.edges).index(node))
        return self._run(node, self._of)

    def _run(self, node: fx.Node, of: Any) -> Any:
        examples = self._examples()

        def chosen(source: fx.Node) -> Any:
            if source in self.edges:
                return of(source)
            return tree_map_only(Tensor, _constants, examples[source])

        args, kwargs = fx.map_arg((node.args, node.kwargs), chosen)
        return call(self.traced, node, args, kwargs)

    def _examples(self) -> dict[fx.Node, Any]:
        if not self._example:
            dtype, device = dtype_and_device(self.traced)
            run = fx.Interpreter(self.traced, garbage_collect_values=False)
            with torch.no_grad():
                run.run(torch.zeros(self.traced.meta["probe"], dtype=dtype, device=device))
            self._example = run.env
        return self._example


def _constants(value: Tensor) -> Tensor:
    return torch.where(value == 0, 0.0, float(CONSTANT)).to(value.dtype) if value.is_floating_point() else value


def _negated(labels: Tensor) -> Tensor:
    """Labels for a search of the smallest by maxima; zeros never are the smallest."""
    return torch.where(labels == 0, -torch.inf, -labels)
