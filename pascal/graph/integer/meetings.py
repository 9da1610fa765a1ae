"""Where currents are added up before a neuron reads them, and the unit that they agree on, channel by channel.

Each channel o of a meeting has a unit u_o: the largest |weight| · unit-of-input of all its layers over 127, so that
the weights of every one of them are INT8; and from there the next unit of which the neuron's step is an even multiple,
so that thresholds are exact and halve. Spikes that join as they are (identity shortcuts) are multiplied by the integer
nearest to unit / u_o; where that would be below 64, all terms are multiplied so that it is not. Every sum is then a
sum of integers of one unit, hence exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor, fx, nn

from pascal.errors import PascalError
from pascal.graph.integer.channels import along_channels
from pascal.graph.integer.roles import MOVE, NEURON, SUM, WEIGHTED
from pascal.graph.operations import MAXIMUM
from pascal.graph.trace import module_of, path_of

if TYPE_CHECKING:
    from pascal.graph.integer.units import Units

LARGEST_WEIGHT = 127
FINEST = 2**13  # channels that hardly weigh anything need no unit below step/FINEST: thresholds and biases stay short
ALIKE = 16  # but channels within this factor of the largest always get their eight bits
LEAST_MULTIPLIER = 64  # rounding it costs an identity less than 1/128


@dataclass(eq=False)
class Meeting:
    """Currents that are added up: weighted layers, their sums, and calls that move them without mixing channels."""

    members: list[fx.Node]
    units: dict[str, Tensor] = field(default_factory=dict)  # of WEIGHTED layers and of their SUM
    asked: bool = False

    def unit(self, units: "Units", role: str) -> Tensor:
        """One unit per channel, or one for all channels."""
        if not self.units:
            if self.asked:
                raise PascalError(f"{path_of(self.members[0])}: reads a sum that it is part of; put a QCFS between")
            self.asked = True
            of_layers = _layer_unit(units, self)
            self.units = {WEIGHTED: of_layers, SUM: _sum_unit(units, self, of_layers)}
        return self.units[role]


def find_meetings(units: "Units") -> dict[fx.Node, Meeting]:
    """The meeting of each call that carries currents."""
    meetings: dict[fx.Node, Meeting] = {}
    for node, role in units.roles.items():
        if role in (WEIGHTED, SUM):
            meetings[node] = Meeting([node])
        if role == SUM or (role in (MOVE, MAXIMUM) and _keeps_channels(units, node)):
            for source in units.sources(node):
                if source in meetings and units.example[source].shape[1] == units.example[node].shape[1]:
                    _unite(meetings, meetings.setdefault(node, Meeting([node])), meetings[source])
    return meetings


def _unite(meetings: dict[fx.Node, Meeting], kept: Meeting, other: Meeting) -> None:
    if kept is not other:
        kept.members += other.members
        meetings.update(dict.fromkeys(other.members, kept))


def _keeps_channels(units: "Units", node: fx.Node) -> bool:
    """Whether a call leaves each value in its channel, which its effect on channel numbers tells."""
    sources = units.sources(node)
    before, after = units.example[sources[0]], units.example[node]
    if len(sources) > 1 or not (isinstance(before, Tensor) and isinstance(after, Tensor)):
        return False
    if before.shape[:2] != after.shape[:2]:
        return False
    numbers = torch.arange(1.0, before.shape[1] + 1, device=before.device, dtype=torch.float64)
    moved = units.run(node, lambda _: along_channels(numbers, before))
    return bool(((moved == along_channels(numbers, after)) | (moved == 0)).all())


def _layer_unit(units: "Units", meeting: Meeting) -> Tensor:
    layers = [node for node in meeting.members if units.roles[node] == WEIGHTED]
    needs = [units.layer(node)[0].flatten(1).abs().amax(1) for node in layers]
    if not layers:
        needs = [unit.amax(0) for unit in _joining(units, meeting)]
    need = torch.stack(needs).amax(0) / LARGEST_WEIGHT
    if _shares_one_unit(units, meeting):
        need = need.max()
    step, largest = _step_read(units, meeting), float(need.max()) or 1.0
    if step is None:
        return need.clamp_min(largest / FINEST)
    need = need.clamp_min(min(step / FINEST, largest / ALIKE))
    halves = (step / (2 * need)).floor()
    return torch.where(halves >= 1, step / (2 * halves), need)


def _sum_unit(units: "Units", meeting: Meeting, of_layers: Tensor) -> Tensor:
    joining = list(_joining(units, meeting))
    if not joining:
        return of_layers
    smallest = torch.stack([torch.where(unit == 0, torch.inf, unit).amin(0) for unit in joining]).amin(0)
    smallest = smallest.min() if of_layers.ndim == 0 else smallest
    return of_layers / (LEAST_MULTIPLIER * of_layers / smallest).ceil().clamp_min(1)


def _joining(units: "Units", meeting: Meeting) -> Iterator[Tensor]:
    """Units (places, channels) of the edges that are added to the meeting as they are."""
    for node in meeting.members:
        if units.roles[node] == SUM:
            for source in units.sources(node):
                if units.meetings.get(source) is not meeting:
                    yield units.of(source).expand(units.example[node].shape).movedim(1, -1).flatten(0, -2)


def _shares_one_unit(units: "Units", meeting: Meeting) -> bool:
    """Logits are compared with each other; and beyond two axes a fully connected layer has its channels last."""
    read_as_logits = any(user.op == "output" for node in meeting.members for user in node.users)
    linear = [isinstance(module_of(units.graph, node), nn.Linear) for node in meeting.members]
    return read_as_logits or (any(linear) and units.example[meeting.members[0]].ndim > 2)


def _step_read(units: "Units", meeting: Meeting) -> float | None:
    """The step of the first neuron that reads the meeting."""
    readers = {user for node in meeting.members for user in node.users}
    neurons = (node for node, role in units.roles.items() if role == NEURON and node in readers)
    first = next(neurons, None)
    return None if first is None else units.step(first)
