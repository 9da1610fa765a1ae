"""Spiking neurons as modules: they hold a step and a number of levels, and turn currents into a spike train."""

from collections.abc import Iterable
from itertools import chain, islice

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.neurons.channels import along_channels
from pascal.neurons.pasc import pasc_spikes
from pascal.neurons.plain import if_spikes
from pascal.neurons.qcfs import check_levels, spelled


class SpikingNeuron(nn.Module):
    """A neuron whose spikes are worth `step` each: one number, or one per channel.

    Shape: an iterable of currents (N, ...), one per timestep → bool (timesteps, N, ...).
    """

    step: Tensor

    def __init__(self, step: Tensor) -> None:
        super().__init__()
        self.register_buffer("step", step)

    def aligned(self, currents: Iterable[Tensor]) -> tuple[Iterable[Tensor], Tensor]:
        """The same currents, and the step as it broadcasts against each of them."""
        if self.step.ndim == 0:
            return currents, self.step
        later = iter(currents)
        first = list(islice(later, 1))
        return chain(first, later), along_channels(self.step, *first) if first else self.step


class PASC(SpikingNeuron):
    """Algorithm 1 (Section 3.2): counts equal those of the QCFS with the same step and levels."""

    def __init__(self, step: Tensor, levels: int) -> None:
        super().__init__(step)
        self.levels = check_levels(levels)

    def forward(self, currents: Iterable[Tensor]) -> Tensor:
        return pasc_spikes(*self.aligned(currents), self.levels)

    def get_extra_state(self) -> Tensor:
        return torch.tensor(self.levels)

    def set_extra_state(self, state: Tensor) -> None:
        if int(state) != self.levels:  # the timesteps of the network around it follow from its levels
            raise PascalError(f"the file has {int(state)} levels, the neuron {self.levels}; set levels, then convert")

    def extra_repr(self) -> str:
        return f"levels={self.levels}, step={spelled(self.step)}"


class IF(SpikingNeuron):
    """The plain neuron of the vanilla SNN: threshold and spike are the QCFS's whole threshold."""

    def forward(self, currents: Iterable[Tensor]) -> Tensor:
        return if_spikes(*self.aligned(currents))

    def extra_repr(self) -> str:
        return f"threshold={spelled(self.step)}"
