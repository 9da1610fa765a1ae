"""One accounting for all methods: what each answer was, how long it took and what it cost."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from pascal.baselines.method import Answer, Method
from pascal.baselines.network import Outcome, padded
from pascal.graph.observe import Observation
from pascal.graph.spike_flow import SpikeFlow
from pascal.graph.timesteps import Edges


@dataclass
class Tally:
    """Sums over images for one answer of a method."""

    images: int = 0
    labelled: int = 0
    right: int = 0
    agreeing: int = 0
    timesteps: float = 0.0
    synapses: float = 0.0
    neurons: int = 0
    mismatches: Counter[str] = field(default_factory=Counter)  # by layer; of early exits nobody asks

    def add(
        self,
        method: Method,
        answer: Answer,
        outcome: Outcome,
        synapses: Tensor,
        expected: Observation,
        labels: Tensor | None,
    ) -> None:
        """Read one answer on a batch; `synapses` (T, N) by timestep and image."""
        times = answer.times(outcome.logits)
        predictions = outcome.logits.argmax(-1).gather(0, times[None] - 1)[0]
        self.images += len(times)
        self.agreeing += int((predictions == expected.logits.argmax(-1)).sum())
        if labels is not None:
            self.labelled += len(labels)
            self.right += int((predictions == labels.to(predictions.device)).sum())
        anytime = len(outcome.logits) > 1
        spent = synapses.cumsum(0).gather(0, times[None] - 1) if anytime else synapses.sum(0)
        self.synapses += float(spent.sum())
        if answer.timesteps is None:
            self.timesteps += float(times.sum())
            return
        self.timesteps += answer.timesteps * len(times)
        self.neurons += sum(count.numel() for count in expected.counts.values())
        self.mismatches.update(method.network.mismatches(expected.counts, outcome.trains, answer.timesteps))


def synapses_over_time(method: Method, outcome: Outcome, images: Tensor) -> Tensor:
    """Synapses that the spikes of each timestep reach, by image: (T, N); spikes before the first count in it."""
    spikes = _reached(method, outcome.trains, images)
    if outcome.before:
        spikes[0] += _reached(method, outcome.before, images).sum(0)
    return spikes


def _reached(method: Method, trains: Mapping[str, Tensor], images: Tensor) -> Tensor:
    timesteps = max(map(len, trains.values()))
    counts = {path: padded(train, timesteps).flatten(0, 1).float().abs() for path, train in trains.items()}
    network = method.network
    flow = SpikeFlow(network.graph, network.edges, counts)
    flow.run(images.repeat(timesteps, *(1,) * (images.ndim - 1)).float())
    reached = [each for path, each in flow.synapses.items() if path in _spiking_layers(network.edges)]
    return torch.stack(reached).sum(0).unflatten(0, (timesteps, -1))


def _spiking_layers(edges: Edges) -> set[str]:
    """The paths of calls at which spikes arrive, not pixels."""
    return {str(node.target) for node, edge in edges.items() if edge.producers and node.op == "call_module"}
