"""Signed integrate-and-fire with a spike tracer: QFFS, SNM, Fast-SNN, ST-BIF (2022–2024). Exact once it is silent."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from pascal.baselines.method import Answer, Field, Method, at_timestep, check_timesteps
from pascal.baselines.network import Neuron, Outcome, TimedNetwork
from pascal.errors import PascalError
from pascal.neurons import QCFS
from pascal.neurons.pasc import half, step_like


@torch.no_grad()
def signed_spikes(currents: Tensor, step: Tensor | float, levels: int) -> tuple[Tensor, bool]:
    """mem += X[t]; at mem ≥ θ* and count < L fire +1; at mem < 0 and count > 0 fire −1.

    Without input it comes to rest with count = the QCFS level.
    Shape: `currents` (T, ...) → int8 (T, ...), and whether every neuron has come to rest.
    """
    step = step_like(step, currents)
    membrane = torch.empty_like(currents[0]).copy_(half(step))
    count = torch.zeros_like(membrane, dtype=torch.int32)
    spikes = torch.empty_like(currents, dtype=torch.int8)
    for fired, current in zip(spikes, currents, strict=True):
        membrane += current
        fired.copy_(_due(membrane, count, step, levels))
        membrane -= fired * step
        count += fired
    return spikes, not bool(_due(membrane, count, step, levels).any())


def _due(membrane: Tensor, count: Tensor, step: Tensor, levels: int) -> Tensor:
    """The spike that each neuron fires at this potential."""
    excited = (membrane >= step) & (count < levels)
    inhibited = (membrane < 0) & (count > 0)
    return excited.to(torch.int8) - inhibited.to(torch.int8)


class SignedIF(Neuron):
    """Hands on spikes of both signs at once; layers work at the same time."""

    rests = True

    def __init__(self, qcfs: QCFS) -> None:
        super().__init__(qcfs, whole_threshold=False)

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        spikes, self.rests = signed_spikes(currents, step, self.levels)
        return spikes


class SpikeTracer(Method):
    """Image and constants arrive over L timesteps (or the next power of two), then each image drains until nobody
    fires; before that, what has arrived at the readout is an answer too."""

    name = "st-bif"
    paper = "QFFS 2022, Fast-SNN 2023, ST-BIF 2024"
    label = "ST-BIF"
    exact = True

    def __init__(self, ann: nn.Module, field: Field) -> None:
        timesteps = check_timesteps(self.name, field.timesteps)
        self.network = TimedNetwork(ann, SignedIF, maxima=False)
        # A power of two, so that the shares of exact constants stay exact.
        self.arrival = self.network.arrival = 1 << (self.network.largest_levels - 1).bit_length()
        self.longest_drain = sum(neuron.levels for neuron in self.network.neurons.values()) + 1
        self.longest = 4 * self.arrival
        self.drained = 0  # timesteps to silence, the longest so far
        early = [replace(at_timestep(each), chosen=False) for each in timesteps if each > self.arrival]
        self.answers = (Answer("drained", lambda seen: seen.lasts, SILENCE, drains=True), *early)

    def run(self, images: Tensor) -> Outcome:
        arrival, drain = self.arrival, max(self.drained - self.arrival, 4)
        while True:
            outcome = self.network.run(images, arrival + drain)
            if all(neuron.rests for neuron in self.network.neurons.values()):
                break
            if drain > 4 * self.longest_drain:
                raise PascalError(f"st-bif: still firing after {arrival + drain} timesteps; compute in float64")
            drain *= 2
        lasts = torch.stack([_last_spikes(train) for train in outcome.trains.values()]).amax(0).clamp(min=arrival)
        self.drained = max(self.drained, int(lasts.max()))
        return replace(outcome, lasts=lasts)

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return 2 * timesteps  # membrane and counter

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return levels.bit_length()  # the tracer


SILENCE = 2**31 - 1  # as long as it takes


def _last_spikes(train: Tensor) -> Tensor:
    """The last timestep, from 1, at which any neuron of each image fires."""
    active = train.flatten(2).any(2)
    timesteps = torch.arange(1, len(train) + 1, device=train.device)[:, None]
    return (active * timesteps).amax(0)
