"""ParaInf's shifts for T < L: what a channel lacks on average, before and behind its neurons, without gradients."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from pascal.graph.observe import observe
from pascal.neurons.channels import along_channels
from pascal.neurons.watching import watched

KEPT = 0.99  # of the running mean, at each batch


class Shifts:
    """ψ is added to the input of each channel, and its spikes are worth θ + φ together instead of θ.

    While there is a `target`, the ANN's mean input and output of each channel on the batch that runs, both follow it;
    layers are run in forward order, so that each sees the shifts of those before it.
    """

    def __init__(self) -> None:
        self.input: Tensor | None = None  # ψ
        self.output: Tensor | None = None  # φ
        self.target: tuple[Tensor, Tensor] | None = None

    def before(self, currents: Tensor) -> Tensor:
        """Currents (1, N, C, ...) with ψ."""
        if self.target is not None:
            self.input = _followed(self.input, self.target[0] - channel_means(currents[0]))
        return currents if self.input is None else currents + along_channels(self.input, currents[0])

    def behind(self, worth: Tensor, threshold: Tensor) -> Tensor:
        """What spikes (1, N, C, ...) hand on, with φ."""
        if self.target is not None:
            self.output = _followed(self.output, self.target[1] - channel_means(worth[0]))
        if self.output is None:
            return worth
        return worth * (1 + along_channels(self.output / threshold, worth[0]))

    def tensors(self) -> list[Tensor]:
        """All that was learned."""
        return [each for each in (self.input, self.output) if each is not None]


def _followed(mean: Tensor | None, latest: Tensor) -> Tensor:
    return latest if mean is None else KEPT * mean + (1 - KEPT) * latest


@torch.no_grad()
def learn_shifts(network: Any, ann: nn.Module, batches: Iterable[Tensor]) -> None:
    """Let the shifts of a network's neurons follow the ANN's channels, batch after batch."""
    for images in batches:
        targets = _ann_channels(ann, images)
        for path, neuron in network.neurons.items():
            neuron.shifts.target = targets[path]
        network.run(images, 1)
    for neuron in network.neurons.values():
        neuron.shifts.target = None


def _ann_channels(ann: nn.Module, images: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
    """Mean input and output of each channel of each activation."""
    means: dict[str, tuple[Tensor, Tensor]] = {}

    def look(path: str, qcfs: Any, preactivation: Tensor) -> None:
        activation = qcfs.count(preactivation) * along_channels(qcfs.step, preactivation)
        means[path] = channel_means(preactivation), channel_means(activation)

    with watched(ann, look):
        observe(ann, images)
    return means


def channel_means(values: Tensor) -> Tensor:
    """(N, C, ...) → (C)."""
    return values.transpose(0, 1).flatten(1).mean(1)
