"""QCFS's own SNN (Bu et al., ICLR 2022): plain integrate-and-fire with soft reset, the mean of all timesteps."""

from collections.abc import Iterator
from dataclasses import replace

from torch import Tensor, nn

from pascal.baselines.method import Answer, Field, Method, at_timestep, check_timesteps
from pascal.baselines.network import Neuron, Outcome, TimedNetwork
from pascal.neurons import QCFS, if_spikes


class PlainIF(Neuron):
    """mem(0) = θ/2; fires and loses θ at mem ≥ θ."""

    def __init__(self, qcfs: QCFS) -> None:
        super().__init__(qcfs, whole_threshold=True)

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        return if_spikes(currents, step)


class Plain(Method):
    """One run of the longest time gives the answers after all shorter ones."""

    name = "plain"
    paper = "QCFS, ICLR 2022"
    label = "IF"

    def __init__(self, ann: nn.Module, field: Field) -> None:
        timesteps = check_timesteps(self.name, field.timesteps)
        self.network = TimedNetwork(ann, PlainIF)
        self.longest = timesteps[-1]
        self.answers: tuple[Answer, ...] = tuple(map(at_timestep, timesteps))

    @classmethod
    def variants(cls, ann: nn.Module, field: Field) -> Iterator[Method]:
        plain = cls(ann, field)
        yield plain
        if plain.longest > 1:
            yield Delayed(plain)

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, self.longest)

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return timesteps

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 0


class Delayed(Plain):
    """The same run, its logits averaged from T/2 on (arXiv 2409.03368): the first timesteps are the least settled."""

    label = "IF, delayed readout"

    def __init__(self, plain: Plain) -> None:
        self.plain, self.network, self.longest = plain, plain.network, plain.longest
        whole = [answer.timesteps for answer in plain.answers if answer.timesteps and answer.timesteps > 1]
        self.answers = tuple(replace(at_timestep(timesteps), since=timesteps // 2) for timesteps in whole)

    @property
    def source(self) -> Method:
        return self.plain
