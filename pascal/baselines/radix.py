"""Radix spikes (Datta et al., TMLR 2025): L = 2ⁿ − 1 levels in n timesteps, the t-th spike worth 2ⁿ⁻ᵗ steps."""

import torch
from torch import Tensor, nn

from pascal.baselines.method import Field, Method, at_the_end
from pascal.baselines.network import Neuron, Outcome, TimedNetwork, padded
from pascal.errors import PascalError
from pascal.graph import get_levels
from pascal.neurons import QCFS
from pascal.neurons.pasc import half, new_train, step_like


@torch.no_grad()
def radix_spikes(currents: Tensor, step: Tensor | float, bits: int) -> Tensor:
    """v = θ*/2 + Σₜ X[t]; for t = 1 … n: at v ≥ 2ⁿ⁻ᵗ·θ* fire and subtract 2ⁿ⁻ᵗ·θ*.

    Shape: `currents` (T_in, ...), their spikes weighted already → bool (bits, ...), the most significant first.
    """
    membrane = currents.sum(0)
    step = step_like(step, membrane)
    membrane += half(step)
    spikes = new_train(bits, torch.empty_like(membrane, dtype=torch.bool))
    for position, fired in zip(reversed(range(bits)), spikes, strict=True):
        worth = step * 2**position
        torch.ge(membrane, worth, out=fired)
        membrane -= fired * worth
    return spikes


def bits_of(levels: int) -> int | None:
    """n with 2ⁿ − 1 = levels; None where there is none."""
    bits = levels.bit_length()
    return bits if levels == 2**bits - 1 else None


class RadixNeuron(Neuron):
    """Receives by shift and add, emits a binary number."""

    def __init__(self, qcfs: QCFS) -> None:
        super().__init__(qcfs, whole_threshold=False)
        self.bits = qcfs.levels.bit_length()

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        return padded(radix_spikes(currents, step, self.bits), len(currents))

    def worth(self, spikes: Tensor) -> Tensor:
        return super().worth(spikes) * self._weights(spikes)

    def units(self, spikes: Tensor, since: int = 0, until: int | None = None) -> Tensor:
        return (spikes * self._weights(spikes))[since:until].sum(0, dtype=torch.int32)

    def _weights(self, spikes: Tensor) -> Tensor:
        weights = padded(2 ** torch.arange(self.bits - 1, -1, -1), len(spikes))
        return weights.to(spikes.device).view(-1, *(1,) * (spikes.ndim - 1))


class Radix(Method):
    """Exact; as many spikes as the level has ones in binary."""

    name = "radix"
    paper = "Datta et al., TMLR 2025"
    label = "radix"
    layer_by_layer = True
    exact = True

    def __init__(self, ann: nn.Module, field: Field) -> None:
        for layer, levels in get_levels(ann).items():
            if bits_of(levels) is None:
                raise PascalError(f"radix: {layer} has {levels} levels, expected 2ⁿ − 1: 1, 3, 7, 15, …")
        self.network = TimedNetwork(ann, RadixNeuron, arrival=1, maxima=False)
        self.timesteps = self.network.largest_levels.bit_length()
        self.longest = self.timesteps
        self.answers = (at_the_end(self.timesteps),)

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, self.timesteps)

    def layer_timesteps(self, producer: int | None, levels: int, timesteps: float) -> float:
        return levels.bit_length()

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return 2 * levels.bit_length()  # shift and add, then subtract

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 0
