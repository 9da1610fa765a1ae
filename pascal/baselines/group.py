"""The group neuron (Lv et al., ICASSP 2024): L member thresholds, one graded spike at one timestep."""

import torch
from torch import Tensor, nn

from pascal.baselines.method import Field, Method, at_the_end
from pascal.baselines.network import Neuron, Outcome, TimedNetwork
from pascal.neurons import QCFS
from pascal.neurons.pasc import half, step_like


@torch.no_grad()
def group_counts(currents: Tensor, step: Tensor | float, members: int) -> Tensor:
    """v = θ*/2 + Σₜ X[t]; as many members fire as reach their threshold: Σᵢ [v ≥ i·θ*], i = 1 … L.

    Shape: `currents` (T_in, ...) → int32 (1, ...).
    """
    membrane = currents.sum(0)
    step = step_like(step, membrane)
    membrane += half(step)
    count = torch.zeros_like(membrane, dtype=torch.int32)
    for member in range(1, members + 1):
        count += membrane >= member * step
    return count[None]


class GroupNeuron(Neuron):
    """As many members as the layer has levels."""

    def __init__(self, qcfs: QCFS) -> None:
        super().__init__(qcfs, whole_threshold=False)

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        return group_counts(currents, step, self.levels)


class Group(Method):
    """Exact at one timestep; a spike of grade k is charged as k spikes."""

    name = "group"
    paper = "GN, ICASSP 2024"
    label = "group neuron"
    layer_by_layer = True
    exact = True

    def __init__(self, ann: nn.Module, field: Field) -> None:
        self.network = TimedNetwork(ann, GroupNeuron, arrival=1)
        self.longest = 1
        self.answers = (at_the_end(1),)

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, 1)

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return 1 + levels  # one addition, L comparisons

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 0
