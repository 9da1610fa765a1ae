"""What `convert` returns, whatever the engine and the neuron: a network that can be asked for its spikes."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal

from torch import Tensor, fx, nn

from pascal.graph.spike_flow import NEURONS
from pascal.graph.timesteps import Edges
from pascal.graph.trace import module_of
from pascal.neurons.pasc import emit

Neuron = Literal["pasc", "if"]


class SpikingNetwork(nn.Module, ABC):
    """A spiking network: its calls, and what travels on the edge behind each of them.

    `levels` has for every layer the most spikes that a neuron can emit, in forward order; `timesteps` has for every
    edge, by the name of the call in front of it, how many moments it takes.

    Shape: images (N, C, H, W) → logits (N, classes), or whatever tensors the ANN returns, as it returns them.
    """

    def __init__(self, graph: fx.GraphModule, edges: Edges, neuron: Neuron = "pasc") -> None:
        super().__init__()
        self.graph, self.edges, self.neuron = graph, edges, neuron
        self.timesteps = {node.name: edge.timesteps for node, edge in edges.items()}
        neurons = [node for node in edges if isinstance(module_of(graph, node), NEURONS)]
        self.levels = {str(node.target): edges[node].timesteps for node in neurons}

    def __reduce_ex__(self, protocol: Any) -> Any:
        """copy.deepcopy and torch.save: as the file that pascal.save writes (`pascal.graph.saving`)."""
        return self._reduced()

    _reduced: ClassVar[Callable[["SpikingNetwork"], Any]]  # given by pascal.graph.saving, which knows every engine

    @abstractmethod
    def forward(self, images: Tensor) -> Tensor:
        """Logits."""

    @abstractmethod
    def record(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the spike count of every neuron by layer."""

    def trains(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the boolean spike train (timesteps, N, ...) of every neuron by layer."""
        logits, counts = self.record(images)
        return logits, {path: emit(count, self.levels[path]) for path, count in counts.items()}


def opened(outputs: Any) -> Any:
    """What a network returns, in containers of one's own: fx keeps its own unchangeable."""
    if isinstance(outputs, dict):
        return {key: opened(value) for key, value in outputs.items()}
    if isinstance(outputs, tuple | list) and not hasattr(outputs, "_fields"):
        return (tuple if isinstance(outputs, tuple) else list)(map(opened, outputs))
    return outputs
