"""What a network asks of hardware: one `LayerWorkload` per weighted layer, with the spikes that really arrive."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from pascal.errors import PascalError
from pascal.graph.observe import observe
from pascal.graph.operations import LINEAR, MAXIMUM, WEIGHTED_MODULES, property_of
from pascal.graph.passes import restore_weighted_modules, separate_calls
from pascal.graph.timesteps import Edges, count_timesteps
from pascal.graph.trace import module_of, trace
from pascal.neurons import QCFS
from pascal.neurons.modules import SpikingNeuron
from pascal.workload import LayerWorkload


def measure(model: nn.Module, batches: Iterable[Any]) -> list[LayerWorkload]:
    """Workloads of an ANN with QCFS activations or of an SNN, its spikes averaged over the images of `batches`."""
    graph, edges = _graph_of(model)
    totals: dict[str, _Spikes] = {}
    images = 0
    for batch in batches:
        pixels = batch if isinstance(batch, Tensor) else batch[0]
        counts = observe(model, pixels).counts
        flow = _SpikeFlow(graph, edges, counts)
        flow.run(pixels.to(next(iter(counts.values())).device, torch.float32))
        images += len(pixels)
        for path, spikes in flow.spikes.items():
            totals[path] = totals.get(path, _Spikes()) + spikes
        shapes = flow.shapes
    if images == 0:
        raise PascalError("batches: got no images, expected at least one batch")
    layers = _layers(graph, edges, shapes)
    return [_with_spikes(layer, totals, images) for layer in layers]


def layer_shapes(model: nn.Module, image_shape: tuple[int, ...]) -> list[LayerWorkload]:
    """Workloads without spikes, from the shapes alone: nothing is computed, so any size of network will do."""
    graph, edges = _graph_of(model)
    flow = _SpikeFlow(graph.to("meta"), edges, {})
    flow.run(torch.zeros((1, *image_shape), device="meta"))
    return _layers(graph, edges, flow.shapes)


def _graph_of(model: nn.Module) -> tuple[fx.GraphModule, Edges]:
    if hasattr(model, "record"):
        return model.graph, model.edges  # type: ignore[return-value]
    traced = trace(model)
    separate_calls(traced)
    restore_weighted_modules(traced)
    return traced.float(), count_timesteps(traced)


@dataclass(frozen=True)
class _Spikes:
    """Totals over images: elements and spikes, synapses that the spikes reach, MACs with a non-zero input."""

    elements: int = 0
    spikes: float = 0.0
    synapses: float = 0.0
    nonzero_macs: float = 0.0

    def __add__(self, other: "_Spikes") -> "_Spikes":
        return _Spikes(
            self.elements + other.elements,
            self.spikes + other.spikes,
            self.synapses + other.synapses,
            self.nonzero_macs + other.nonzero_macs,
        )


@dataclass
class _Shapes:
    """Shapes per image of everything that a node receives and returns."""

    inputs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    outputs: dict[str, tuple[int, ...]] = field(default_factory=dict)


class _SpikeFlow(fx.Interpreter):
    """Runs the graph on spike counts instead of activations: neurons inject their counts, weighted layers count the
    synapses reached, and average pooling hands all its spikes on."""

    def __init__(self, graph: fx.GraphModule, edges: Edges, counts: dict[str, Tensor]) -> None:
        super().__init__(graph)
        self.edges, self.counts = edges, counts
        self.spikes: dict[str, _Spikes] = {}
        self.shapes = _Shapes()

    def run_node(self, n: fx.Node) -> Any:
        if n not in self.edges:
            return super().run_node(n)
        source = self.env[n.all_input_nodes[0]] if n.all_input_nodes else None
        result = self._flow(n, source)
        if isinstance(source, Tensor) and isinstance(result, Tensor):
            self.shapes.inputs[n.name], self.shapes.outputs[n.name] = tuple(source.shape[1:]), tuple(result.shape[1:])
        return result

    def _flow(self, node: fx.Node, source: Any) -> Any:
        module = module_of(self.module, node)  # type: ignore[arg-type]
        if isinstance(module, QCFS | SpikingNeuron):
            path = str(node.target)
            count = self.counts[path].float() if path in self.counts else source
            self.spikes[path] = _Spikes(count.numel(), _total(count))
            return count
        if isinstance(module, WEIGHTED_MODULES):
            reached, shape = _synapses(module, source)
            hit, _ = _synapses(module, (source != 0).float())
            self.spikes[str(node.target)] = _Spikes(source.numel(), _total(source), reached, hit)
            return source.new_zeros(shape)
        if isinstance(module, _BatchNorm):
            return source
        result = super().run_node(node)
        if property_of(node, module) == LINEAR and len(node.all_input_nodes) == 1 and isinstance(result, Tensor):
            return result * (source.numel() / result.numel())
        return result


def _total(spikes: Tensor) -> float:
    return 0.0 if spikes.is_meta else float(spikes.sum(dtype=torch.float64))


def _synapses(module: nn.Module, spikes: Tensor) -> tuple[float, torch.Size]:
    """Σ spikes × the number of synapses that each reaches, borders and strides included; and the output's shape."""
    if isinstance(module, nn.Linear):
        return _total(spikes) * module.out_features, torch.Size((*spikes.shape[:-1], module.out_features))
    assert isinstance(module, _ConvNd)
    if module.transposed:
        raise PascalError(f"measure: {type(module).__name__} is not supported; use an upsampling and a convolution")
    weight = torch.ones(module.groups, module.in_channels // module.groups, *module.kernel_size, device=spikes.device)
    convolve = {1: nn.functional.conv1d, 2: nn.functional.conv2d, 3: nn.functional.conv3d}[len(module.kernel_size)]
    reached = convolve(spikes, weight, None, module.stride, module.padding, module.dilation, module.groups)
    per_group = module.out_channels // module.groups
    return _total(reached) * per_group, torch.Size((len(spikes), module.out_channels, *reached.shape[2:]))


def _layers(graph: fx.GraphModule, edges: Edges, shapes: _Shapes) -> list[LayerWorkload]:
    weighted = [node for node in edges if isinstance(module_of(graph, node), WEIGHTED_MODULES)]
    layers = {node: _layer(graph, node, edges, shapes) for node in weighted}
    for neuron in [node for node in edges if isinstance(module_of(graph, node), QCFS | SpikingNeuron)]:
        feeding = [node for node in weighted if _first_neuron(graph, node) is neuron]
        if feeding:
            main = max(feeding, key=lambda node: layers[node].fan_in)
            additions = [node for node in _upstream(graph, neuron, edges) if len(_arriving(node, edges)) > 1]
            elements = sum(_size(shapes.outputs[node.name]) for node in additions if "cat" not in node.name)
            layers[main] = replace(layers[main], neurons=_size(shapes.outputs[neuron.name]), additions=elements)
    return list(layers.values())


def _layer(graph: fx.GraphModule, node: fx.Node, edges: Edges, shapes: _Shapes) -> LayerWorkload:
    module: Any = module_of(graph, node)
    arriving = edges[node.all_input_nodes[0]]
    neuron = _first_neuron(graph, node)
    upstream = list(_upstream(graph, node, edges))
    pools = [n for n in upstream if property_of(n, module_of(graph, n)) in (LINEAR, MAXIMUM) and "pool" in n.name]
    is_conv = isinstance(module, _ConvNd)
    fan_in = module.weight[0].numel()
    outputs = shapes.outputs[node.name]
    geometry = {n: _pair(getattr(module, n), module) for n in ("stride", "padding", "dilation")} if is_conv else {}
    return LayerWorkload(
        path=str(node.target),
        kind="conv" if is_conv else "linear",
        input_shape=shapes.inputs[node.name],
        output_shape=outputs,
        kernel=tuple(module.kernel_size) if is_conv else (),
        groups=module.groups if is_conv else 1,
        macs=fan_in * _size(outputs),
        fan_in=fan_in,
        producers=tuple(sorted(arriving.producers)),
        producer_levels=arriving.timesteps if arriving.producers else None,
        graded_input=bool(arriving.producers) and _is_graded(graph, node.all_input_nodes[0]),
        pool_operations=sum(_size(shapes.inputs[n.name]) for n in pools),
        activation=str(neuron.target) if neuron else None,
        levels=edges[neuron].timesteps if neuron else None,
        **geometry,
    )


def _with_spikes(layer: LayerWorkload, totals: dict[str, _Spikes], images: int) -> LayerWorkload:
    arriving, own = totals[layer.path], totals.get(layer.activation or "", _Spikes())
    spiking = layer.producer_levels is not None and not layer.graded_input
    return replace(
        layer,
        producer_spikes_per_neuron=arriving.spikes / arriving.elements if spiking else None,
        synaptic_operations=arriving.synapses / images if spiking else None,
        nonzero_macs=float(layer.macs) if layer.graded_input else arriving.nonzero_macs / images,
        spikes_per_neuron=own.spikes / own.elements if own.elements else None,
    )


def _arriving(node: fx.Node, edges: Edges) -> list[fx.Node]:
    return [source for source in node.all_input_nodes if source in edges]


def _ends_segment(graph: fx.GraphModule, node: fx.Node) -> bool:
    return node.op == "placeholder" or isinstance(module_of(graph, node), (QCFS, SpikingNeuron, *WEIGHTED_MODULES))


def _upstream(graph: fx.GraphModule, node: fx.Node, edges: Edges) -> Iterator[fx.Node]:
    """The calls between earlier neurons or weighted layers and this one."""
    seen: dict[fx.Node, None] = {}
    frontier = [node]
    while frontier:
        for source in _arriving(frontier.pop(), edges):
            if source not in seen and not _ends_segment(graph, source):
                seen[source] = None
                frontier.append(source)
    yield from seen


def _first_neuron(graph: fx.GraphModule, node: fx.Node) -> fx.Node | None:
    """The first neuron in forward order that the node's output reaches without another weighted layer between."""
    reached: set[fx.Node] = set()
    frontier, seen = [node], {node}
    while frontier:
        for user in frontier.pop().users:
            module = module_of(graph, user)
            if isinstance(module, QCFS | SpikingNeuron):
                reached.add(user)
            elif user not in seen and not isinstance(module, WEIGHTED_MODULES):
                seen.add(user)
                frontier.append(user)
    return next((n for n in graph.graph.nodes if n in reached), None)


def _is_graded(graph: fx.GraphModule, node: fx.Node) -> bool:
    """Whether real-valued currents, not spikes, arrive: a weighted layer or a batch norm without a neuron behind it."""
    module = module_of(graph, node)
    if isinstance(module, (_BatchNorm, *WEIGHTED_MODULES)):
        return True
    if _ends_segment(graph, node):
        return False
    return any(_is_graded(graph, source) for source in node.all_input_nodes)


def _size(shape: tuple[int, ...]) -> int:
    return int(torch.Size(shape).numel())


def _pair(value: Any, module: _ConvNd) -> tuple[int, ...]:
    if isinstance(value, str):  # padding="same" or "valid"
        return tuple(
            (k - 1) * d // 2 if value == "same" else 0 for k, d in zip(module.kernel_size, module.dilation, strict=True)
        )
    return tuple(value)
