"""ParaInf (Hao et al., ICML 2025): all timesteps of a neuron at once, from the sum of its currents."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from pascal.baselines.group import group_counts
from pascal.baselines.method import Field, Method, at_the_end, check_timesteps
from pascal.baselines.network import Neuron, Outcome, TimedNetwork
from pascal.baselines.shifts import Shifts, learn_shifts
from pascal.graph.digests import DataDigest
from pascal.inference import image_batches
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
    """The train is told by its count, and layers are linear: one pass with counts stands for all T timesteps.

    In PASC's units: T spikes of θ/T, so that with T = L these are the ANN's levels.
    """

    def __init__(self, qcfs: QCFS, timesteps: int | None = None) -> None:
        super().__init__(qcfs, whole_threshold=False)
        self.shifts = Shifts()
        self.of_ann, self.steps = qcfs.levels, timesteps or qcfs.levels
        if self.steps != qcfs.levels:
            self.step = (qcfs.threshold / self.steps).detach().clone()

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        return group_counts(self.shifts.before(currents), step, self.steps)

    def worth(self, spikes: Tensor) -> Tensor:
        return self.shifts.behind(super().worth(spikes), self.step * self.steps)

    def differs(self, units: Tensor, level: Tensor, timesteps: int) -> Tensor:
        return units * self.of_ann != level * self.steps


class Parallel(Method):
    """With T = L the counts are the ANN's levels and the trains PASC's; with another T they are right on average.

    With calibration images and T < L there is the variant with shifts for each channel too.
    """

    name = "parallel"
    paper = "ParaInf, ICML 2025"
    layer_by_layer = True

    def __init__(
        self, ann: nn.Module, field: Field, timesteps: int | None = None, shifted: list[Tensor] | None = None
    ) -> None:
        self.exact = timesteps is None
        self.network = TimedNetwork(ann, lambda qcfs: ParallelIF(qcfs, timesteps), arrival=1)
        self.timesteps = timesteps or self.network.largest_levels
        self.label = "ParaInf, T = L" if self.exact else "ParaInf" if shifted is None else "ParaInf, shifted"
        self.longest = 1
        self.answers = (at_the_end(self.timesteps),)
        if shifted is not None:
            learn_shifts(self.network, ann, shifted)

    @classmethod
    def variants(cls, ann: nn.Module, field: Field) -> Iterator[Method]:
        exact = cls(ann, field)
        yield exact
        images = None if field.calibration is None else list(image_batches(field.calibration))
        for timesteps in check_timesteps(cls.name, field.timesteps):
            yield cls(ann, field, timesteps)
            if images and timesteps < exact.timesteps:
                yield cls(ann, field, timesteps, images)

    @property
    def settings(self) -> str:
        digest = DataDigest()
        for neuron in self.network.neurons.values():
            for learned in neuron.shifts.tensors():
                digest.add(learned)
        return f"{super().settings} {self.timesteps} {digest.hexdigest()}"

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, 1)

    def layer_timesteps(self, producer: int | None, levels: int, timesteps: float) -> float:
        return levels if self.exact else timesteps

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return 2 * (levels if self.exact else timesteps)  # as many additions as comparisons

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 0  # the sum stays in the membrane while the train is read off it
