"""What the integer 1 is worth on every edge.

Pixels and spikes have the unit they are given: the pixels' step, the neuron's step. Calls that move values move units
with them, so that a concatenation of layers with different steps has a unit per channel, and a weighted layer takes
it into its weights. Units of currents are agreed on where they meet (`meetings.py`).
"""

from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm

from pascal.errors import PascalError
from pascal.graph.folding import per_weight
from pascal.graph.integer.calls import Calls
from pascal.graph.integer.channels import channel_units, over_places
from pascal.graph.integer.meetings import (
    LARGEST_WEIGHT,
    Meeting,
    find_meetings,
    layer_unit,
    shares_one_unit,
    step_read,
    sum_unit,
)
from pascal.graph.integer.modules import outputs_first
from pascal.graph.integer.roles import IMAGE, NEURON, POOL, SCALE, SUM, WEIGHTED
from pascal.graph.operations import MAXIMUM
from pascal.graph.timesteps import Edges
from pascal.graph.trace import module_of, path_of


class Units(Calls):
    """Units of all edges of a network, for images of one size: tensors (1, ...) in float64."""

    def __init__(self, graph: fx.GraphModule, edges: Edges, example: dict[fx.Node, Any], pixel_step: float) -> None:
        super().__init__(graph, edges, example)
        self.pixel_step, self.meetings = pixel_step, find_meetings(self)
        self._units: dict[fx.Node, Any] = {}
        self._agreed: dict[Meeting, dict[str, Tensor]] = {}  # of the WEIGHTED layers of a meeting and of their SUM

    def of(self, node: fx.Node) -> Any:
        """The unit at each position of an edge; 0 where the value is always 0. A tuple, where the edge is one."""
        if node not in self._units:
            self._units[node] = self._unit(node)
        return self._units[node]

    def agreed(self, node: fx.Node, role: str) -> Tensor:
        """What the meeting of a call agrees on, for its layers or its sum: a unit per channel, or one for all."""
        meeting = self.meetings[node]
        if meeting not in self._agreed:
            self._agreed[meeting] = {}  # while it is empty, the meeting is asked for by what it reads
            self._agreed[meeting] = self._agree(meeting)
        if not self._agreed[meeting]:
            raise PascalError(f"{path_of(meeting.members[0])}: reads a sum that it is part of; put a QCFS between")
        return self._agreed[meeting][role]

    def layer(self, node: fx.Node) -> tuple[Tensor, Tensor]:
        """Weight and bias of a weighted layer in float64, as they act on the integers that it reads."""
        module: Any = module_of(self.graph, node)
        axis = -1 if isinstance(module, nn.Linear) else 1
        unit = channel_units(self.of(self.sources(node)[0]), axis, path_of(node))
        if isinstance(module, _BatchNorm):
            return _batch_norm(module, unit)
        weight = module.weight.double()
        if getattr(module, "transposed", False):
            weight = outputs_first(weight * unit.view(-1, *[1] * (weight.ndim - 1)), module)
        bias = weight.new_zeros(len(weight)) if module.bias is None else module.bias.double()
        if getattr(module, "transposed", False):
            return weight, bias
        if isinstance(module, nn.Linear):
            return weight * unit, bias
        return weight * per_weight(unit, module), bias

    def _agree(self, meeting: Meeting) -> dict[str, Tensor]:
        layers = [node for node in meeting.members if self.roles[node] == WEIGHTED]
        joining = self._joining(meeting)
        needs = [self.layer(node)[0].flatten(1).abs().amax(1) for node in layers] or [unit.amax(0) for unit in joining]
        need = torch.stack(needs).amax(0) / LARGEST_WEIGHT
        need = need.max() if shares_one_unit(self, meeting) else need
        of_layers = layer_unit(need, step_read(self, meeting))
        return {WEIGHTED: of_layers, SUM: sum_unit(of_layers, joining)}

    def _joining(self, meeting: Meeting) -> list[Tensor]:
        """Units (places, channels) of the edges that are added to the meeting as they are."""
        sums = [node for node in meeting.members if self.roles[node] == SUM]
        return [
            self.of(source).expand(self.example[node].shape).movedim(1, -1).flatten(0, -2)
            for node in sums
            for source in self.sources(node)
            if self.meetings.get(source) is not meeting
        ]

    def _unit(self, node: fx.Node) -> Any:
        role, sources, example = self.roles[node], self.sources(node), self.example[node]
        if role == IMAGE:
            return torch.full_like(example, self.pixel_step, dtype=torch.float64)
        if role == NEURON:
            return over_places(self.step(node), example)
        if role in (WEIGHTED, SUM):
            return over_places(self.agreed(node, role), example)
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
        return over_places(channel_units(unit, 1, path_of(node)), example)


def _batch_norm(module: _BatchNorm, unit: Tensor) -> tuple[Tensor, Tensor]:
    """Batch norm as one weight and one bias per channel."""
    gain = (module.running_var.double() + module.eps).rsqrt()  # type: ignore[union-attr]
    gain = gain if module.weight is None else gain * module.weight.double()
    bias = -gain * module.running_mean.double()  # type: ignore[union-attr]
    return (gain * unit)[:, None], bias if module.bias is None else bias + module.bias.double()
