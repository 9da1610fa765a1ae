"""The counts engine: each neuron's spike count in closed form, so that L timesteps cost what the ANN costs.

Trains are earliest-first, so a count is the whole train; `trains` spells it out on demand.
"""

from typing import Any

import torch
from torch import Tensor, fx

from pascal.errors import PascalError
from pascal.graph.images import check_images
from pascal.graph.network import SpikingNetwork, opened
from pascal.graph.timesteps import Edges
from pascal.neurons.counting import CountingPASC


class CountsSNN(SpikingNetwork):
    """A spiking network evaluated by counts: same logits, same spikes as timestep by timestep."""

    def __init__(self, graph: fx.GraphModule, edges: Edges, compiled: bool = False) -> None:
        flat = all(tensor.ndim < 5 for tensor in graph.parameters())  # 3-D convolutions have no such format
        graph = graph.to(memory_format=torch.channels_last) if flat else graph  # type: ignore[call-overload]
        super().__init__(graph, edges)
        self.compiled = compiled
        self._run = torch.compile(graph.forward, options={"freezing": True}) if compiled else graph.forward

    @torch.no_grad()
    def forward(self, images: Tensor) -> Tensor:
        """The ANN's logits."""
        return self._run(self._prepared(images))

    @torch.no_grad()
    def record(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the spike count of every neuron by layer."""
        recorder = _Recorder(self.graph)
        return opened(recorder.run(self._prepared(images))), recorder.counts

    def load_state_dict(self, *_: Any, **__: Any) -> Any:
        """Steps stand in the calls, not only in the state."""
        raise PascalError("the counts engine folds steps into its calls; load the ANN's state and convert it again")

    def _prepared(self, images: Tensor) -> Tensor:
        check_images(images, self.graph)
        return images.contiguous(memory_format=torch.channels_last) if images.ndim == 4 else images


class _Recorder(fx.Interpreter):
    """Runs the graph and keeps every neuron's count."""

    def __init__(self, graph: fx.GraphModule) -> None:
        super().__init__(graph)
        self.counts: dict[str, Tensor] = {}

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        module = self.fetch_attr(target)
        if not isinstance(module, CountingPASC):
            return super().call_module(target, args, kwargs)
        count = module.count(*args)
        self.counts[target] = count.to(torch.int32)
        return module.hand_on(count)
