"""The integer engine: spike counts in closed form on integers, or timestep by timestep."""

from typing import Any

import torch
from torch import Tensor, fx
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from pascal.errors import PascalError
from pascal.graph.images import check_images
from pascal.graph.integer.build import IntegerNetwork, integer_network
from pascal.graph.integer.int8 import accelerate
from pascal.graph.integer.kernels import Int8Meeting, Int8Neurons, have_kernels
from pascal.graph.integer.modules import IntegerPASC
from pascal.graph.integer.pixels import Pixels
from pascal.graph.integer.steps import run_stepwise
from pascal.graph.network import SpikingNetwork, opened
from pascal.graph.timesteps import Edges


class IntegerSNN(SpikingNetwork):
    """A spiking network whose every value is an integer until its logits are multiplied by their unit."""

    def __init__(self, graph: fx.GraphModule, edges: Edges, pixels: Pixels, int8: bool = True) -> None:
        super().__init__(graph, edges)
        self.pixels, self.int8 = pixels, int8
        self._networks: dict[Any, tuple[IntegerNetwork, fx.GraphModule]] = {}

    def network(self, images: Tensor) -> IntegerNetwork:
        """The integers, for images of this size: a mean is kept as a sum, over an area that must be known."""
        return self._built(images)[0]

    @torch.no_grad()
    def forward(self, images: Tensor) -> Tensor:
        """Logits, in the unit of the ANN's."""
        network, fastest = self._built(images)
        return _logits(network, fastest(self._pixels(images)), images)

    @torch.no_grad()
    def record(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the spike count of every neuron by layer."""
        network, fastest = self._built(images)
        recorder = _Recorder(fastest)
        integers = recorder.run(self._pixels(images))
        return _logits(network, integers, images), recorder.counts

    def stepwise(self) -> "IntegerStepsSNN":
        """The same integers timestep by timestep: what the counts are held to."""
        return IntegerStepsSNN(self).eval()

    def load_state_dict(self, *_: Any, **__: Any) -> Any:
        """The integers are made from the ANN's numbers once."""
        raise PascalError("the integer engine makes its integers once; load the ANN's state and convert it again")

    def _pixels(self, images: Tensor) -> Tensor:
        pixels = self.pixels.integers(images)
        return pixels.contiguous(memory_format=torch.channels_last) if pixels.ndim == 4 else pixels

    def _built(self, images: Tensor) -> tuple[IntegerNetwork, fx.GraphModule]:
        check_images(images, self.graph)
        key = (images.shape[1:], images.device)
        if key not in self._networks:
            network = integer_network(self.graph, self.edges, images, self.pixels)
            fast = self.int8 and have_kernels(images.device)
            self._networks[key] = network, accelerate(network) if fast else network.graph
        return self._networks[key]


class IntegerStepsSNN(SpikingNetwork):
    """An integer network simulated timestep by timestep."""

    def __init__(self, snn: IntegerSNN) -> None:
        super().__init__(snn.graph, snn.edges)
        self.snn = snn

    def forward(self, images: Tensor) -> Tensor:
        """Logits, in the unit of the ANN's."""
        return self.trains(images)[0]

    def record(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the spike count of every neuron by layer."""
        logits, trains = self.trains(images)
        return logits, {path: spikes.sum(0, dtype=torch.int32) for path, spikes in trains.items()}

    def trains(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the boolean spike train (timesteps, N, ...) of every neuron by layer."""
        network = self.snn.network(images)
        integers, trains = run_stepwise(network, self.snn.pixels.integers(images))
        return _logits(network, integers, images), trains


def _logits(network: IntegerNetwork, integers: Any, images: Tensor) -> Any:
    values, containers = tree_flatten(opened(integers))
    units = tree_leaves(network.logit_unit)
    scaled = [(value.double() * unit).to(images.dtype) for value, unit in zip(values, units, strict=True)]
    return tree_unflatten(scaled, containers)


class _Recorder(fx.Interpreter):
    """Runs a graph and keeps every neuron's count."""

    def __init__(self, graph: fx.GraphModule) -> None:
        super().__init__(graph)
        self.counts: dict[str, Tensor] = {}

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        result = super().call_module(target, args, kwargs)
        if isinstance(self.fetch_attr(target), IntegerPASC | Int8Neurons | Int8Meeting):
            self.counts[target] = result.to(torch.int32)
        return result
