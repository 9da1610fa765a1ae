"""PASC in the same accounting: the counts of ParaInf at T = L, for what Algorithm 1 needs to find them."""

from torch import Tensor, nn

from pascal.baselines.method import Field, Method, at_the_end
from pascal.baselines.network import Outcome, TimedNetwork
from pascal.baselines.parallel import ParallelIF


class Pasc(Method):
    """Integrate over the producer's L_{n−1} timesteps, settle over max(L_{n−1}, L_n) − 1, emit over L_n."""

    name = "pasc"
    paper = "PASCAL"
    label = "PASC"
    layer_by_layer = True
    exact = True

    def __init__(self, ann: nn.Module, field: Field) -> None:
        self.network = TimedNetwork(ann, ParallelIF, arrival=1)
        self.longest = 1
        self.answers = (at_the_end(self.network.largest_levels),)

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, 1)

    def layer_timesteps(self, producer: int | None, levels: int, timesteps: float) -> float:
        return levels if producer is None else levels + max(producer, levels) - 1

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return 5 * levels - 2

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return levels.bit_length()  # the counter
