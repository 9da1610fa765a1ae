"""COS (Hao et al., ICLR 2023): simulate a layer, find neurons with a spike too many or too few, shift their start."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from pascal.baselines.method import Field, Method, at_timestep, check_timesteps
from pascal.baselines.network import Neuron, Outcome, TimedNetwork
from pascal.errors import PascalError
from pascal.neurons import QCFS, if_spikes
from pascal.neurons.pasc import half, step_like

MARGIN = 1e-3  # of a threshold, beyond the potential that decides


@torch.no_grad()
def calibrated_start(currents: Tensor, threshold: Tensor | float, iterations: int = 1) -> Tensor:
    """v(0) of each neuron after `iterations` of: run the given timesteps, see an offset of spikes, shift by one spike.

    Too many (residue < 0 and a spike): v(0) −= max(θ, u_min − θ + margin), u_min the smallest potential that fired.
    Too few (residue ≥ θ): v(0) += max(θ, θ + margin − v_max), v_max the largest potential that stayed silent.
    Shape: `currents` (ρ, ...) → (...).
    """
    threshold = step_like(threshold, currents)
    middle = half(threshold)
    start = torch.empty_like(currents[0]).copy_(middle)
    for _ in range(iterations):
        count, residue, smallest_fired, largest_silent = _simulate(currents, threshold, start)
        residue -= start - middle
        too_many = (residue < 0) & (count > 0)
        too_few = (residue >= threshold) & (count < len(currents))
        down = torch.maximum(threshold, smallest_fired - threshold * (1 - MARGIN))
        up = torch.maximum(threshold, threshold * (1 + MARGIN) - largest_silent)
        start = torch.where(too_many, start - down, torch.where(too_few, start + up, start))
    return start


def _simulate(currents: Tensor, threshold: Tensor, start: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Spike count, last potential, smallest potential that fired, largest that did not."""
    membrane = start.clone()
    count = torch.zeros_like(membrane)
    smallest = torch.full_like(membrane, float("inf"))
    largest = torch.full_like(membrane, float("-inf"))
    for current in currents:
        membrane += current
        fired = membrane >= threshold
        smallest = torch.where(fired, torch.minimum(smallest, membrane), smallest)
        largest = torch.where(fired, largest, torch.maximum(largest, membrane))
        count += fired
        membrane -= fired * threshold
    return count, membrane, smallest, largest


class ShiftedIF(Neuron):
    """Simulated on the first ρ timesteps, then run from the start that these suggest."""

    def __init__(self, qcfs: QCFS, presimulation: int, iterations: int) -> None:
        super().__init__(qcfs, whole_threshold=True)
        self.presimulation, self.iterations = presimulation, iterations

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        if not self.presimulation:
            return if_spikes(currents, step)
        start = calibrated_start(currents[: self.presimulation], step, self.iterations)
        return if_spikes(currents, step, start)


class OffsetSpikes(Method):
    """Every layer needs at least ρ timesteps of the one below, whatever T its answer is read at."""

    name = "cos"
    paper = "COS, ICLR 2023"
    layer_by_layer = True

    def __init__(self, ann: nn.Module, field: Field, iterations: int = 1) -> None:
        timesteps = check_timesteps(self.name, field.timesteps)
        self.simulated = field.presimulation
        self.presimulation = iterations * self.simulated
        self.longest = max(timesteps[-1], self.simulated)
        self.network = TimedNetwork(ann, lambda qcfs: ShiftedIF(qcfs, self.simulated, iterations))
        self.label = f"COS, ρ = {self.simulated}" + (f", {iterations} rounds" if iterations > 1 else "")
        self.answers = tuple(map(at_timestep, timesteps))

    @classmethod
    def check(cls, field: Field) -> None:
        super().check(field)
        if field.presimulation < 0:
            raise PascalError(f"cos: presimulation: got {field.presimulation}, expected at least 0")

    @classmethod
    def variants(cls, ann: nn.Module, field: Field) -> Iterator[Method]:
        for iterations in (1, 2):
            yield cls(ann, field, iterations)

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, self.longest)

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return self.total_timesteps(timesteps)

    def charged(self, timesteps: Tensor) -> Tensor:
        return timesteps.clamp(min=self.simulated)  # the layer above needs ρ timesteps to see its offset

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 32 * max(self.simulated, timesteps)  # the currents, to be run again
