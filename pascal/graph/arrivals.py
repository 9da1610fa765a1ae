"""What arrives at every weighted layer for real images: the spikes, and the INT8 weights that meet them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, fx, nn

from pascal.errors import PascalError
from pascal.graph.folding import per_weight
from pascal.graph.network import SpikingNetwork
from pascal.graph.operations import LINEAR, WEIGHTED_MODULES, property_of
from pascal.graph.spike_flow import NEURONS, SpikeFlow
from pascal.graph.trace import module_of
from pascal.neurons.channels import along_channels
from pascal.workload import LayerWorkload

_LARGEST_INT8 = 127
_LONGEST_WORD = 64  # bits


@dataclass(frozen=True, eq=False)
class Arrivals:
    """One layer and a batch of images."""

    workload: LayerWorkload
    weights: NDArray  # int8
    spikes: NDArray | None  # (images, *map): counts, or words with bit t for the spike at timestep t; None: pixels
    active_outputs: NDArray  # (images,): output neurons that spike at all
    timesteps: int | None  # of words; None: counts
    pool: tuple[int, int]  # window of an average pooling between the map and the layer


class _Arriving(SpikeFlow):
    """Notes what arrives at each weighted layer; of an average pooling, what arrives at the pooling and its window."""

    def __init__(self, snn: SpikingNetwork, counts: Mapping[str, Tensor]) -> None:
        super().__init__(snn.graph, snn.edges, dict(counts))
        self.maps: dict[str, Tensor] = {}
        self.pools: dict[str, tuple[int, int]] = {}
        self._pooled: dict[fx.Node, tuple[Tensor, tuple[int, int]]] = {}

    def run_node(self, n: fx.Node) -> Any:
        source = self.env[n.all_input_nodes[0]] if n.all_input_nodes else None
        result = super().run_node(n)
        if isinstance(source, Tensor) and isinstance(result, Tensor):
            self._follow_pooling(n, source, result)
        return result

    def _follow_pooling(self, node: fx.Node, source: Tensor, result: Tensor) -> None:
        before, module = node.all_input_nodes[0], module_of(self.graph_module, node)
        if isinstance(module, WEIGHTED_MODULES):
            path = str(node.target)
            self.maps[path], self.pools[path] = self._pooled.get(before, (source, (1, 1)))
        elif isinstance(module, NEURONS):
            return  # they emit trains of their own
        elif node in self.edges and self._averages(node, source, result):
            window = (source.shape[2] // result.shape[2], source.shape[3] // result.shape[3])
            self._pooled[node] = (source, window)
        elif before in self._pooled and result.numel() == source.numel():
            self._pooled[node] = self._pooled[before]

    def _averages(self, node: fx.Node, source: Tensor, result: Tensor) -> bool:
        linear = property_of(node, module_of(self.graph_module, node)) == LINEAR
        return linear and source.dim() == result.dim() == 4 and result.numel() < source.numel()


class _Worths(SpikeFlow):
    """What a spike of each input channel is worth to each weighted layer, beyond what its weights say already."""

    def __init__(self, snn: SpikingNetwork) -> None:
        super().__init__(snn.graph, snn.edges, {})
        self.worths: dict[str, Tensor] = {}

    def _inject(self, path: str, source: Tensor) -> Tensor:
        neuron: Any = self.graph_module.get_submodule(path)
        folded = getattr(neuron, "hands_on_counts", False)
        worth = torch.ones_like(source)
        return worth if folded else worth * along_channels(neuron.step.to(source), source)

    def _count_synapses(self, path: str, module: nn.Module, source: Tensor) -> Tensor:
        axis = -1 if isinstance(module, nn.Linear) else 1
        self.worths[path] = source.movedim(axis, 0).flatten(1).amax(1)
        return super()._count_synapses(path, module, source)

    def weights_of(self, path: str) -> Tensor:
        """The weights as spikes meet them: steps that differ between input channels are part of them."""
        module: Any = self.graph_module.get_submodule(path)
        worth = self.worths[path].to(module.weight)
        if bool((worth == worth[0]).all()):
            return module.weight
        return module.weight * (worth if isinstance(module, nn.Linear) else per_weight(worth, module))


def record_arrivals(snn: SpikingNetwork, workloads: Iterable[LayerWorkload], images: Tensor) -> list[Arrivals]:
    """What arrives at each weighted layer: counts of PASC neurons, words of plain ones."""
    return (record_words if snn.neuron == "if" else record_counts)(snn, workloads, images)


def record_counts(snn: SpikingNetwork, workloads: Iterable[LayerWorkload], images: Tensor) -> list[Arrivals]:
    """Of PASC neurons: their trains are earliest-first, so a count is the whole train."""
    _, counts = snn.record(images)
    flow = _flow(snn, counts, images)
    smallest = np.min_scalar_type(max(snn.levels.values()))
    arriving = {path: arrived.cpu().numpy().astype(smallest) for path, arrived in flow.maps.items()}
    return _arrivals(snn, workloads, arriving, flow.pools, counts, None, torch.ones_like(images[:1]).float())


def record_words(snn: SpikingNetwork, workloads: Iterable[LayerWorkload], images: Tensor) -> list[Arrivals]:
    """Of plain IF neurons: one word per neuron, bit t for the spike at timestep t."""
    timesteps = max(snn.levels.values())
    if timesteps > _LONGEST_WORD:
        raise PascalError(f"timesteps: got {timesteps}, a trace holds at most {_LONGEST_WORD}; convert with fewer")
    _, trains = snn.trains(images)
    word = np.min_scalar_type((1 << timesteps) - 1).type
    words: dict[str, NDArray] = {}
    for timestep in range(timesteps):
        flow = _flow(snn, {path: train[timestep] for path, train in trains.items()}, images)
        for path, arrived in flow.maps.items():
            bit = (arrived.cpu().numpy() > 0).astype(word) << word(timestep)
            words[path] = words.get(path, word(0)) | bit
    counts = {path: train.sum(0) for path, train in trains.items()}
    return _arrivals(snn, workloads, words, flow.pools, counts, timesteps, torch.ones_like(images[:1]).float())


def _flow(snn: SpikingNetwork, counts: Mapping[str, Tensor], images: Tensor) -> _Arriving:
    flow = _Arriving(snn, counts)
    with torch.no_grad():
        flow.run(images.float())
    return flow


def _arrivals(
    snn: SpikingNetwork,
    workloads: Iterable[LayerWorkload],
    arriving: Mapping[str, NDArray],
    pools: Mapping[str, tuple[int, int]],
    counts: Mapping[str, Tensor],
    timesteps: int | None,
    image: Tensor,
) -> list[Arrivals]:
    layers, worths = [], _Worths(snn)
    worths.run(image)
    for workload in workloads:
        if workload.graded_input:
            raise PascalError(f"layer {workload.path!r}: real-valued currents arrive, which no simulator covers")
        active = _active_outputs(workload, counts)
        spikes = None if workload.is_input else arriving[workload.path]
        weights = int8_weights(worths.weights_of(workload.path))
        pool = pools.get(workload.path, (1, 1))
        layers.append(Arrivals(workload, weights, spikes, active, timesteps, pool))
    return layers


def _active_outputs(workload: LayerWorkload, counts: Mapping[str, Tensor]) -> NDArray:
    """Neurons of the layer's activation that spike at all, per image; a readout has none."""
    if not workload.is_main_path:
        return np.zeros(len(next(iter(counts.values()))), np.int64)
    return (counts[str(workload.activation)] > 0).flatten(1).sum(1).cpu().numpy()


def int8_weights(weight: Tensor) -> NDArray:
    """Symmetric INT8 with one scale per output channel; a weight below half a step is a zero the machines skip."""
    scale = weight.detach().abs().flatten(1).amax(1).clamp_min(torch.finfo(weight.dtype).tiny) / _LARGEST_INT8
    return (weight.detach() / scale.view(-1, *[1] * (weight.dim() - 1))).round().to(torch.int8).cpu().numpy()
