"""Where spikes go: the graph run on spike counts instead of activations."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from pascal.errors import PascalError
from pascal.graph.operations import LINEAR, WEIGHTED_MODULES, call_name, property_of
from pascal.graph.timesteps import Edges
from pascal.graph.trace import module_of
from pascal.neurons import QCFS
from pascal.neurons.modules import SpikingNeuron

NEURONS = (QCFS, SpikingNeuron)
_SCALES = ("mul", "div", "truediv", "neg", "add", "sub")


@dataclass(frozen=True)
class Spikes:
    """Totals over images: elements and spikes, synapses that the spikes reach, MACs with a non-zero input."""

    elements: int = 0
    spikes: float = 0.0
    synapses: float = 0.0
    nonzero_macs: float = 0.0

    def __add__(self, other: "Spikes") -> "Spikes":
        return Spikes(
            self.elements + other.elements,
            self.spikes + other.spikes,
            self.synapses + other.synapses,
            self.nonzero_macs + other.nonzero_macs,
        )


class SpikeFlow(fx.Interpreter):
    """Neurons inject their counts, weighted layers count the synapses reached, average pooling hands all spikes on.

    After `run`, `spikes` holds totals by path, `synapses` what the spikes of each image reach by path, `inputs` and
    `outputs` the shapes per image by node name.
    """

    def __init__(self, graph: fx.GraphModule, edges: Edges, counts: dict[str, Tensor]) -> None:
        super().__init__(graph)
        self.graph_module, self.edges, self.counts = graph, edges, counts
        self.spikes: dict[str, Spikes] = {}
        self.synapses: dict[str, Tensor] = {}
        self.inputs: dict[str, tuple[int, ...]] = {}
        self.outputs: dict[str, tuple[int, ...]] = {}

    def run_node(self, n: fx.Node) -> Any:
        if n not in self.edges:
            return super().run_node(n)
        source = self.env[n.all_input_nodes[0]] if n.all_input_nodes else None
        result = self._flow(n, source)
        if isinstance(source, Tensor) and isinstance(result, Tensor):
            self.inputs[n.name], self.outputs[n.name] = tuple(source.shape[1:]), tuple(result.shape[1:])
        return result

    def _flow(self, node: fx.Node, source: Any) -> Any:
        module = module_of(self.graph_module, node)
        if isinstance(module, NEURONS):
            return self._inject(str(node.target), source)
        if isinstance(module, WEIGHTED_MODULES):
            return self._count_synapses(str(node.target), module, source)
        activations = [self.env[argument] for argument in node.all_input_nodes if argument in self.edges]
        if isinstance(module, _BatchNorm) or (len(activations) == 1 and call_name(node, module) in _SCALES):
            return activations[0]  # a constant changes what a spike is worth, not how many there are
        result = super().run_node(node)
        if property_of(node, module) == LINEAR and len(activations) == 1:
            return result * (source.numel() / result.numel())
        return result

    def _inject(self, path: str, source: Tensor) -> Tensor:
        count = self.counts[path].float() if path in self.counts else source
        self.spikes[path] = Spikes(count.numel(), _total(count))
        return count

    def _count_synapses(self, path: str, module: nn.Module, source: Tensor) -> Tensor:
        reached, shape = _synapses(module, source)
        hit, _ = _synapses(module, (source != 0).float())
        self.synapses[path] = reached
        self.spikes[path] = Spikes(source.numel(), _total(source), _total(reached), _total(hit))
        return source.new_zeros(shape)


def _synapses(module: nn.Module, spikes: Tensor) -> tuple[Tensor, torch.Size]:
    """Σ spikes × the number of synapses that each reaches, borders and strides included, for each image; and the
    output's shape."""
    if isinstance(module, nn.Linear):
        return _each(spikes) * module.out_features, torch.Size((*spikes.shape[:-1], module.out_features))
    if not isinstance(module, _ConvNd):
        raise PascalError(f"measure: {type(module).__name__} is not supported; use convolutions")
    reached = _spread(module, spikes) if module.transposed else _convolved(module, spikes)
    per_group = module.out_channels // module.groups
    return _each(reached) * per_group, torch.Size((len(spikes), module.out_channels, *reached.shape[2:]))


def _convolved(module: Any, spikes: Tensor) -> Tensor:
    """Spikes that each place of one output channel per group reads, those that a padding copies included."""
    weight = torch.ones(module.groups, module.in_channels // module.groups, *module.kernel_size, device=spikes.device)
    convolve: Any = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[len(module.kernel_size)]
    padding = module.padding
    if module.padding_mode != "zeros":
        spikes, padding = F.pad(spikes, module._reversed_padding_repeated_twice, module.padding_mode), 0
    return convolve(spikes, weight, None, module.stride, padding, module.dilation, module.groups)


def _spread(module: Any, spikes: Tensor) -> Tensor:
    """The same of a transposed convolution."""
    weight = torch.ones(module.in_channels, 1, *module.kernel_size, device=spikes.device)
    spread: Any = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}[len(module.kernel_size)]
    geometry = (module.stride, module.padding, module.output_padding, module.groups, module.dilation)
    return spread(spikes, weight, None, *geometry)


def _each(spikes: Tensor) -> Tensor:
    """Totals of the images."""
    return spikes.flatten(1).sum(1, dtype=torch.float64)


def _total(spikes: Tensor) -> float:
    return 0.0 if spikes.is_meta else float(spikes.detach().sum(dtype=torch.float64))
