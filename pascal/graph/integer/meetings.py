"""Where currents are added up before a neuron reads them, and the unit that they agree on, channel by channel.

Each channel o of a meeting has a unit u_o: the largest |weight| · unit-of-input of all its layers over 127, so that
the weights of every one of them are INT8; and from there the next unit of which the neuron's step is an even multiple,
so that thresholds are exact and halve. Spikes that join as they are (identity shortcuts) are multiplied by the integer
nearest to unit / u_o; where that would be below 64, all terms are multiplied so that it is not. Every sum is then a
sum of integers of one unit, hence exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, fx, nn

from pascal.graph.integer.calls import Calls
from pascal.graph.integer.channels import over_places
from pascal.graph.integer.roles import MOVE, NEURON, SUM, WEIGHTED
from pascal.graph.operations import MAXIMUM
from pascal.graph.trace import module_of

LARGEST_WEIGHT = 127
FINEST = 2**13  # channels that hardly weigh anything need no unit below step/FINEST: thresholds and biases stay short
ALIKE = 16  # but channels within this factor of the largest always get their eight bits
LEAST_MULTIPLIER = 64  # rounding it costs an identity less than 1/128


@dataclass(frozen=True, eq=False)
class Meeting:
    """Currents that are added up: weighted layers, their sums, and calls that move them without mixing channels."""

    members: list[fx.Node]


def find_meetings(calls: Calls) -> dict[fx.Node, Meeting]:
    """The meeting of each call that carries currents."""
    meetings: dict[fx.Node, Meeting] = {}
    for node, role in calls.roles.items():
        if role in (WEIGHTED, SUM):
            meetings[node] = Meeting([node])
        if role == SUM or (role in (MOVE, MAXIMUM) and _keeps_channels(calls, node)):
            for source in calls.sources(node):
                if source in meetings and calls.example[source].shape[1] == calls.example[node].shape[1]:
                    _unite(meetings, meetings.setdefault(node, Meeting([node])), meetings[source])
    return meetings


def _unite(meetings: dict[fx.Node, Meeting], kept: Meeting, other: Meeting) -> None:
    if kept is not other:
        kept.members.extend(other.members)
        meetings.update(dict.fromkeys(other.members, kept))


def _keeps_channels(calls: Calls, node: fx.Node) -> bool:
    """Whether a call leaves each value in its channel, which its effect on channel numbers tells."""
    sources = calls.sources(node)
    before, after = calls.example[sources[0]], calls.example[node]
    if len(sources) > 1 or not (isinstance(before, Tensor) and isinstance(after, Tensor)):
        return False
    if before.shape[:2] != after.shape[:2]:
        return False
    numbers = torch.arange(1.0, before.shape[1] + 1, device=before.device, dtype=torch.float64)
    moved = calls.run(node, lambda _: over_places(numbers, before))
    return bool(((moved == over_places(numbers, after)) | (moved == 0)).all())


def shares_one_unit(calls: Calls, meeting: Meeting) -> bool:
    """Logits are compared with each other; and beyond two axes a fully connected layer has its channels last."""
    read_as_logits = any(user.op == "output" for node in meeting.members for user in node.users)
    linear = [isinstance(module_of(calls.graph, node), nn.Linear) for node in meeting.members]
    return read_as_logits or (any(linear) and calls.example[meeting.members[0]].ndim > 2)


def step_read(calls: Calls, meeting: Meeting) -> Tensor | None:
    """The step, or steps by channel, of the first neuron that reads the meeting."""
    readers = {user for node in meeting.members for user in node.users}
    neurons = (node for node, role in calls.roles.items() if role == NEURON and node in readers)
    first = next(neurons, None)
    return None if first is None else calls.step(first)


def layer_unit(need: Tensor, step: Tensor | None) -> Tensor:
    """The unit of the layers: no finer than their weights need, and an even part of the step that reads them."""
    largest = need.max() if bool(need.max() > 0) else need.new_ones(())
    if step is None:
        return need.clamp_min(largest / FINEST)
    step = step if step.shape == need.shape else step.min()  # one unit for all channels serves the finest
    need = need.maximum(torch.minimum(step / FINEST, largest / ALIKE))
    halves = (step / (2 * need)).floor()
    return torch.where(halves >= 1, step / (2 * halves), need)


def sum_unit(of_layers: Tensor, joining: Sequence[Tensor]) -> Tensor:
    """The unit of the sum: that of the layers, or a part of it in which what joins as it is can be told."""
    if not joining:
        return of_layers
    smallest = torch.stack([torch.where(unit == 0, torch.inf, unit).amin(0) for unit in joining]).amin(0)
    smallest = smallest.min() if of_layers.ndim == 0 else smallest
    return of_layers / (LEAST_MULTIPLIER * of_layers / smallest).ceil().clamp_min(1)
