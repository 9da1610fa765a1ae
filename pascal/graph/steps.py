"""The stepwise engine: every timestep of every layer is simulated, layer after layer.

A neuron needs its whole input train before it may emit (PASC is layer-synchronous), so the graph is cut at the
neurons. The calls between two neurons, a *segment*, run once per timestep and their currents are integrated at once:
what is stored is spikes, one byte each, and never a train of currents. Only a value that several segments read
(concatenations of DenseNet) is stored as it is.
"""

import sys
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils._pytree import tree_map, tree_map_only

from pascal.errors import PascalError
from pascal.graph.images import check_images
from pascal.graph.network import Neuron, SpikingNetwork, opened
from pascal.graph.segments import cut, is_neuron
from pascal.graph.timesteps import Edges
from pascal.graph.trace import call
from pascal.neurons.channels import along_channels

Watch = Callable[[str, Tensor], None]  # receives each layer's path and spike train


class SteppedSNN(SpikingNetwork):
    """A spiking network simulated timestep by timestep."""

    def __init__(
        self, graph: fx.GraphModule, edges: Edges, neuron: Neuron = "pasc", inexact: tuple[str, ...] = ()
    ) -> None:
        super().__init__(graph, edges, neuron)
        self.repeats_image = neuron == "if"
        self.inexact = inexact  # paths of calls that plain neurons make inexact in a way of their own
        self._segments = cut(graph, set(self.timesteps))

    def forward(self, images: Tensor) -> Tensor:
        """The ANN's logits; of plain IF neurons their approximation."""
        return self._logits(images)

    def record(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the spike count of every neuron by layer."""
        counts: dict[str, Tensor] = {}
        logits = self._logits(images, lambda path, spikes: counts.update({path: spikes.sum(0, dtype=torch.int32)}))
        return logits, counts

    def trains(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the boolean spike train (timesteps, N, ...) of every neuron by layer."""
        trains: dict[str, Tensor] = {}
        return self._logits(images, lambda path, spikes: trains.update({path: spikes})), trains

    def _logits(self, images: Tensor, watch: Watch | None = None) -> Tensor:
        """The sum of the readout over time; of plain IF neurons, which see the image at every timestep, the mean."""
        readout = self._readout(images, watch)
        return tree_map_only(Tensor, lambda train: train.mean(0) if self.repeats_image else train.sum(0), readout)

    def logits_over_time(self, images: Tensor) -> Tensor:
        """Of plain IF neurons: the logits after 1, 2, … T timesteps, (T, N, classes), in one run."""
        if not self.repeats_image:
            raise PascalError(
                "logits over time: PASC has one answer, after all its timesteps; convert with neuron='if'"
            )
        readout = self._readout(images)
        if not isinstance(readout, Tensor):
            raise PascalError(f"logits over time: the network returns a {type(readout).__name__}, expected one tensor")
        passed = torch.arange(1, len(readout) + 1, device=readout.device, dtype=readout.dtype)
        return readout.cumsum(0) / passed[:, None, None]

    @torch.no_grad()
    def _readout(self, images: Tensor, watch: Watch | None = None) -> Tensor:
        check_images(images, self.graph)
        trains: dict[str, Any] = {}
        for stop, segment, expired in self._segments:
            if stop.op == "placeholder":
                trains[stop.name] = _Constant(images) if self.repeats_image else images[None]
                continue
            currents = self._currents(stop, segment, trains)
            if is_neuron(stop):
                trains[stop.name] = self.graph.get_submodule(str(stop.target))(currents)
                if watch:
                    watch(str(stop.target), trains[stop.name])
            else:
                trains[stop.name] = list(currents)
            for name in expired:
                del trains[name]
        return tree_map(lambda *values: torch.stack(values), *trains["output"])

    def _currents(self, stop: fx.Node, segment: list[fx.Node], trains: dict[str, Any]) -> Iterator[Any]:
        """What arrives at `stop`, timestep by timestep."""
        ends = stop.all_input_nodes if stop.op == "output" else segment[-1:]
        reads = {node: [] if node.name in trains else node.all_input_nodes for node in segment}
        last_reader = {read: node for node in segment for read in reads[node]}
        silent: dict[fx.Node, Any] = {}
        timesteps = max(self.timesteps[end.name] for end in ends)
        for timestep in range(timesteps):
            values: dict[fx.Node, Any] = dict(silent)
            for node in segment:
                if node not in silent:
                    values[node] = self._value(node, timestep, values, trains)
                    if timestep + 1 >= self._lasts(node, trains) and timestep + 1 < timesteps:
                        # a shorter branch is silent from here on, its constants spent
                        silent[node] = tree_map_only(Tensor, torch.zeros_like, values[node])
                for read in reads[node]:
                    if last_reader[read] is node and read not in ends:
                        del values[read]  # nobody needs it until the next timestep
            yield opened(fx.map_arg(stop.args[0], values.__getitem__)) if stop.op == "output" else values.pop(*ends)

    def _value(self, node: fx.Node, timestep: int, values: dict[fx.Node, Any], trains: dict[str, Any]) -> Any:
        if node.name in trains:
            return self._spiked(node, trains[node.name][timestep])
        args, kwargs = fx.map_arg((node.args, node.kwargs), values.__getitem__)
        return call(self.graph, node, args, kwargs)

    def _lasts(self, node: fx.Node, trains: dict[str, Any]) -> float:
        """For how many timesteps a node has something to say; constants and sizes always do."""
        stored = len(trains[node.name]) if node.name in trains else inf
        return min(stored, self.timesteps.get(node.name, inf))

    def _spiked(self, node: fx.Node, value: Any) -> Any:
        """One timestep of a stored train; a spike is worth its neuron's step."""
        if not is_neuron(node):
            return value
        step: Any = self.graph.get_submodule(str(node.target)).step
        worth = along_channels(step, value)
        return value.view(torch.uint8).to(step.dtype).mul_(worth)  # faster than a product of booleans


class _Constant:
    """The image of a vanilla SNN: the same current at every timestep."""

    def __init__(self, value: Tensor) -> None:
        self.value = value

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, timestep: int) -> Tensor:
        return self.value
