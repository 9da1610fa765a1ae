"""ParaInf (Hao et al., ICML 2025): all timesteps of a neuron at once, from the sum of its currents."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from pascal.baselines.method import Field, Method, at_the_end, check_timesteps
from pascal.baselines.network import Neuron, Outcome, TimedNetwork, padded
from pascal.neurons import QCFS
from pascal.neurons.pasc import half, new_train, step_like


@torch.no_grad()
def parallel_spikes(currents: Tensor, threshold: Tensor | float, timesteps: int) -> Tensor:
    """S = Σₜ X[t]; the neuron fires at timestep t if S + θ/2 ≥ t·θ, so its train is earliest-first.

    Shape: `currents` (T_in, ...) → bool (timesteps, ...).
    """
    total = currents.sum(0)
    threshold = step_like(threshold, total)
    charged = total + half(threshold)
    spikes = new_train(timesteps, torch.empty_like(charged, dtype=torch.bool))
    for timestep, fired in enumerate(spikes, start=1):
        torch.ge(charged, timestep * threshold, out=fired)
    return spikes


class ParallelIF(Neuron):
    """In QCFS's units: T currents, T thresholds."""

    def __init__(self, qcfs: QCFS) -> None:
        super().__init__(qcfs, whole_threshold=True)

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        return parallel_spikes(currents, step, len(currents))


class ParallelLevels(Neuron):
    """In PASC's units: as many timesteps as the layer has levels, silent afterwards."""

    def __init__(self, qcfs: QCFS) -> None:
        super().__init__(qcfs, whole_threshold=False)

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        return padded(parallel_spikes(currents, step, self.levels), len(currents))


class Parallel(Method):
    """With T = L the counts are the ANN's levels and the trains PASC's; with another T they are right on average."""

    name = "parallel"
    paper = "ParaInf, ICML 2025"
    layer_by_layer = True

    def __init__(self, ann: nn.Module, field: Field, timesteps: int | None = None) -> None:
        self.exact = timesteps is None
        self.network = TimedNetwork(ann, ParallelLevels, arrival=1) if self.exact else TimedNetwork(ann, ParallelIF)
        self.timesteps = timesteps or self.network.largest_levels
        self.label = "ParaInf, T = L" if self.exact else "ParaInf"
        self.longest = self.timesteps
        self.answers = (at_the_end(self.timesteps),)

    @classmethod
    def variants(cls, ann: nn.Module, field: Field) -> Iterator[Method]:
        yield cls(ann, field)
        for timesteps in check_timesteps(cls.name, field.timesteps):
            yield cls(ann, field, timesteps)

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, self.timesteps)

    def layer_timesteps(self, producer: int | None, levels: int, timesteps: float) -> float:
        return levels if self.exact else timesteps

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return 2 * (levels if self.exact else timesteps)  # as many additions as comparisons

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 0
