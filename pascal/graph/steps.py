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
from torch import Tensor, fx, nn
from torch.utils._pytree import tree_map_only

from pascal.errors import PascalError
from pascal.graph.images import check_images
from pascal.graph.timesteps import Edges
from pascal.graph.trace import call, module_of
from pascal.neurons.modules import SpikingNeuron

Watch = Callable[[str, Tensor], None]  # receives each layer's path and spike train


class SteppedSNN(nn.Module):
    """A spiking network simulated timestep by timestep.

    Shape: images (N, C, H, W) → logits (N, classes).
    """

    def __init__(
        self, graph: fx.GraphModule, edges: Edges, timesteps: int | None = None, inexact: tuple[str, ...] = ()
    ) -> None:
        super().__init__()
        self.graph = graph
        self.edges = edges
        self.timesteps = {node.name: edge.timesteps for node, edge in edges.items()}
        self.repeats_image = timesteps is not None
        self.inexact = inexact  # paths of calls that plain neurons make inexact in a way of their own
        if timesteps is not None:
            self.timesteps = dict.fromkeys(self.timesteps, timesteps)
        self._segments = _cut(graph, set(self.timesteps))

    def forward(self, images: Tensor) -> Tensor:
        """The sum of the readout over time: the ANN's logits. Of plain IF neurons, which see the image at every
        timestep, the mean."""
        logits = self._readout(images)
        if not self.repeats_image:
            return logits.sum(0)
        return logits.mean(0)

    def record(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the spike count of every neuron by layer."""
        counts: dict[str, Tensor] = {}
        readout = self._readout(images, lambda path, spikes: counts.update({path: spikes.sum(0, dtype=torch.int32)}))
        return (readout.mean(0) if self.repeats_image else readout.sum(0)), counts

    def trains(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and the boolean spike train (timesteps, N, ...) of every neuron by layer."""
        trains: dict[str, Tensor] = {}
        readout = self._readout(images, lambda path, spikes: trains.update({path: spikes}))
        return (readout.mean(0) if self.repeats_image else readout.sum(0)), trains

    def logits_over_time(self, images: Tensor) -> Tensor:
        """Of plain IF neurons: the logits after 1, 2, … T timesteps, (T, N, classes), in one run."""
        if not self.repeats_image:
            raise PascalError(
                "logits over time: PASC has one answer, after all its timesteps; convert with neuron='if'"
            )
        readout = self._readout(images)
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
            if _is_neuron(stop):
                trains[stop.name] = self.graph.get_submodule(str(stop.target))(currents)
                if watch:
                    watch(str(stop.target), trains[stop.name])
            else:
                trains[stop.name] = list(currents)
            for name in expired:
                del trains[name]
        return torch.stack(trains["output"])

    def _currents(self, stop: fx.Node, segment: list[fx.Node], trains: dict[str, Any]) -> Iterator[Any]:
        """What arrives at `stop`, timestep by timestep."""
        source = segment[-1]
        reads = {node: [] if node.name in trains else node.all_input_nodes for node in segment}
        last_reader = {read: node for node in segment for read in reads[node]}
        silent: dict[fx.Node, Any] = {}
        timesteps = self.timesteps[source.name]
        for timestep in range(timesteps):
            values: dict[fx.Node, Any] = dict(silent)
            for node in segment:
                if node not in silent:
                    values[node] = self._value(node, timestep, values, trains)
                    if timestep + 1 >= self._lasts(node, trains) and timestep + 1 < timesteps:
                        # a shorter branch is silent from here on, its constants spent
                        silent[node] = tree_map_only(Tensor, torch.zeros_like, values[node])
                for read in reads[node]:
                    if last_reader[read] is node:
                        del values[read]  # nobody needs it until the next timestep
            yield values.pop(source)

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
        if not _is_neuron(node):
            return value
        step = self.graph.get_submodule(str(node.target)).step
        return value.view(torch.uint8).to(step.dtype).mul_(step)  # faster than a product of booleans


class _Constant:
    """The image of a vanilla SNN: the same current at every timestep."""

    def __init__(self, value: Tensor) -> None:
        self.value = value

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, timestep: int) -> Tensor:
        return self.value


Segments = list[tuple[fx.Node, list[fx.Node], list[str]]]


def _cut(graph: fx.GraphModule, values: set[str]) -> Segments:
    """(stop, the calls that feed it ending with its source, stored trains that nobody needs afterwards)."""
    stops = _stops(graph, values)
    segments = {stop: _segment(stop, stops) for stop in stops if stop.op != "placeholder"}
    last_reader = {node: stop for stop, segment in segments.items() for node in segment if node in stops}
    return [
        (stop, segments.get(stop, []), [node.name for node, reader in last_reader.items() if reader is stop])
        for stop in stops
    ]


def _stops(graph: fx.GraphModule, values: set[str]) -> dict[fx.Node, None]:
    """Nodes whose train is stored, in forward order: image, neurons, values of several segments, the readout."""
    readers: dict[fx.Node, set[fx.Node]] = {}
    stops: set[fx.Node] = set()
    for node in reversed(graph.graph.nodes):
        readers[node] = set().union(*({user} if user in stops else readers[user] for user in node.users))
        shared = node.name in values and len(readers[node]) > 1
        if shared or _is_neuron(node) or node.op in ("placeholder", "output"):
            stops.add(node)
    return dict.fromkeys(node for node in graph.graph.nodes if node in stops)


def _is_neuron(node: fx.Node) -> bool:
    owner = node.graph.owning_module
    return owner is not None and isinstance(module_of(owner, node), SpikingNeuron)


def _segment(stop: fx.Node, stops: dict[fx.Node, None]) -> list[fx.Node]:
    """The calls between earlier stops and this one, earlier stops included, in forward order; its source is last.

    A stop that is not a neuron is itself the last call of its segment.
    """
    needed: set[fx.Node] = set()
    frontier = [stop]
    while frontier:
        for source in frontier.pop().all_input_nodes:
            if source not in needed:
                needed.add(source)
                if source not in stops:
                    frontier.append(source)
    ordered = [node for node in stop.graph.nodes if node in needed]
    return ordered if stop.op == "output" or _is_neuron(stop) else [*ordered, stop]
