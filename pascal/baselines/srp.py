"""SRP (Hao et al., AAAI 2023): neurons whose potential ends near zero after τ timesteps are kept silent."""

import torch
from torch import Tensor, nn

from pascal.baselines.method import Field, Method, at_timestep, check_timesteps
from pascal.baselines.network import Neuron, Outcome, TimedNetwork
from pascal.errors import PascalError
from pascal.neurons import QCFS, if_spikes
from pascal.neurons.pasc import half, step_like

MARGIN = 1e-3  # of a threshold


@torch.no_grad()
def residual_mask(currents: Tensor, threshold: Tensor | float) -> Tensor:
    """Which neurons may fire: those whose potential after the given timesteps lies above the margin.

    Shape: `currents` (τ, ...) → bool (...).
    """
    threshold = step_like(threshold, currents)
    spikes = if_spikes(currents, threshold).sum(0)
    membrane = half(threshold) + currents.sum(0) - spikes * threshold
    return membrane > MARGIN * threshold


class MaskedIF(Neuron):
    """Plain IF whose spikes pass a mask; its own reset does not see the mask."""

    mask: Tensor | None = None
    observes = False  # whether this run makes the mask

    def __init__(self, qcfs: QCFS) -> None:
        super().__init__(qcfs, whole_threshold=True)

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        spikes = if_spikes(currents, step)
        if self.observes:
            self.mask = residual_mask(currents, step)
            return spikes
        return spikes if self.mask is None else spikes & self.mask


class ResidualMask(Method):
    """The whole network runs τ timesteps for the masks, then again for the answer."""

    name = "srp"
    paper = "SRP, AAAI 2023"

    def __init__(self, ann: nn.Module, field: Field) -> None:
        timesteps = check_timesteps(self.name, field.timesteps)
        self.presimulation, self.longest = field.presimulation, timesteps[-1]
        self.network = TimedNetwork(ann, MaskedIF)
        self.label = f"SRP, τ = {self.presimulation}"
        self.answers = tuple(map(at_timestep, timesteps))

    @classmethod
    def check(cls, field: Field) -> None:
        super().check(field)
        if field.presimulation < 1:
            raise PascalError(f"srp: presimulation: got {field.presimulation}, expected at least 1")

    def run(self, images: Tensor) -> Outcome:
        self._observe(True)
        try:
            before = self.network.run(images, self.presimulation).trains
        finally:
            self._observe(False)
        outcome = self.network.run(images, self.longest)
        return Outcome(outcome.logits, outcome.trains, before)

    def _observe(self, observes: bool) -> None:
        for neuron in self.network.neurons.values():
            neuron.observes = observes

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return self.presimulation + timesteps

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 1  # the mask
