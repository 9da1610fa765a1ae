"""How many synapses a spike of each neuron reaches: found once, then spikes of any number of timesteps are weighed."""

import torch
from torch import Tensor

from pascal.baselines.network import Outcome, TimedNetwork, padded
from pascal.graph.spike_flow import SpikeFlow

_WHOLE = 2**24  # up to here float32 adds whole numbers exactly


class FanOut:
    """The synapses that spikes of one network reach, borders, strides and average pooling included.

    They add up over neurons, so that a weight for each neuron tells all; maxima do not add up, and are followed.
    """

    def __init__(self, network: TimedNetwork) -> None:
        self.network = network
        self.spiking = {str(node.target) for node, edge in network.edges.items() if edge.producers}
        self.weights: dict[str, Tensor] = {}

    def synapses(self, outcome: Outcome, images: Tensor) -> Tensor:
        """By timestep and image, (T, N); spikes before the first timestep count in it."""
        reached = self._reached(outcome.trains, images)
        if outcome.before:
            reached[0] += self._reached(outcome.before, images).sum(0)
        return reached

    def _reached(self, trains: dict[str, Tensor], images: Tensor) -> Tensor:
        timesteps = max(map(len, trains.values()))
        if self.network.inexact:
            return self._followed(trains, images, timesteps)
        self.weights = self.weights or self._weights(trains, images[:1])
        total = torch.zeros(timesteps, len(images), dtype=torch.float64, device=images.device)
        for path, train in trains.items():
            total[: len(train)] += _weighed(train, self.weights[path])
        return total

    def _followed(self, trains: dict[str, Tensor], images: Tensor, timesteps: int) -> Tensor:
        counts = {path: padded(train, timesteps).flatten(0, 1).float().abs() for path, train in trains.items()}
        repeated = images.repeat(timesteps, *(1,) * (images.ndim - 1)).float()
        return self._flow(repeated, counts).unflatten(0, (timesteps, -1))

    def _flow(self, images: Tensor, counts: dict[str, Tensor]) -> Tensor:
        flow = SpikeFlow(self.network.graph, self.network.edges, counts)
        flow.run(images)
        return torch.stack([each for path, each in flow.synapses.items() if path in self.spiking]).sum(0)

    def _weights(self, trains: dict[str, Tensor], image: Tensor) -> dict[str, Tensor]:
        """The derivative of the synapses by each neuron's spikes."""
        like = {path: train[0, :1] for path, train in trains.items()}
        ones = {path: torch.ones_like(each, dtype=torch.float32).requires_grad_() for path, each in like.items()}
        with torch.enable_grad():
            reached = self._flow(image.float(), ones).sum()
            slopes = torch.autograd.grad(reached, list(ones.values()), allow_unused=True)
        found = zip(ones.items(), slopes, strict=True)
        return {path: torch.zeros_like(one) if slope is None else slope for (path, one), slope in found}


def _weighed(train: Tensor, weight: Tensor) -> Tensor:
    """Spikes, signed and graded by their size, times weights: (T, N, ...) and (1, ...) → float64 (T, N)."""
    if train.dtype != torch.bool:
        train = train.abs()
    largest = float(weight.sum()) * (1 if train.dtype == torch.bool else float(train.max()))
    dtype = torch.float32 if largest < _WHOLE else torch.float64
    # channels last, as spikes lie in memory
    spikes, own = (tensor.movedim(2, -1).flatten(2).to(dtype) for tensor in (train, weight[None]))
    return (spikes @ own.flatten()).double()
