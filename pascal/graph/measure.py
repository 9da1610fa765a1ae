"""What a network asks of hardware: one `LayerWorkload` per weighted layer, with the spikes that really arrive."""

from dataclasses import replace
from typing import Any

import torch
from torch import fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from pascal.errors import PascalError
from pascal.graph.network import SpikingNetwork
from pascal.graph.observe import observe
from pascal.graph.operations import LINEAR, MAXIMUM, WEIGHTED_MODULES, property_of
from pascal.graph.passes import restore_weighted_modules, separate_calls
from pascal.graph.spike_flow import NEURONS, SpikeFlow, Spikes
from pascal.graph.timesteps import Edges, count_timesteps
from pascal.graph.trace import module_of, trace
from pascal.inference import check_model, image_batches, undisturbed
from pascal.workload import LayerWorkload


def measure(model: nn.Module, batches: Any) -> list[LayerWorkload]:
    """Workloads of an ANN with QCFS activations or of an SNN, its spikes averaged over the images of `batches`."""
    graph, edges = graph_of(check_model(model))
    totals: dict[str, Spikes] = {}
    images, flow = 0, None
    with undisturbed(model), undisturbed(graph):
        for pixels in image_batches(batches):
            counts = observe(model, pixels).counts
            if not counts:
                raise PascalError(f"{type(model).__name__} has no QCFS activation; call pascal.quantize(model) first")
            flow = SpikeFlow(graph, edges, counts)
            flow.run(pixels.to(next(iter(counts.values())).device, torch.float32))
            images += len(pixels)
            for path, spikes in flow.spikes.items():
                totals[path] = totals.get(path, Spikes()) + spikes
    if flow is None:
        raise PascalError("batches: got no images, expected at least one batch")
    return [_with_spikes(layer, totals, images) for layer in _layers(flow)]


def layer_shapes(model: nn.Module, image_shape: tuple[int, ...]) -> list[LayerWorkload]:
    """Workloads without spikes, from the shapes alone: nothing is computed, so any size of network will do."""
    graph, edges = graph_of(model)
    flow = SpikeFlow(graph.to("meta"), edges, {})
    flow.run(torch.zeros((1, *image_shape), device="meta"))
    return _layers(flow)


def graph_of(model: nn.Module) -> tuple[fx.GraphModule, Edges]:
    """The calls of a network, one module for each, and what travels between them."""
    if isinstance(model, SpikingNetwork):
        return model.graph, model.edges
    traced = trace(model)
    separate_calls(traced)
    restore_weighted_modules(traced)
    return traced, count_timesteps(traced)


def _layers(flow: SpikeFlow) -> list[LayerWorkload]:
    """One record per weighted layer; of those that feed a neuron, the one at the end of the deepest branch owns it."""
    graph = flow.graph_module
    layers = {node: _layer(flow, node) for node in flow.edges if isinstance(module_of(graph, node), WEIGHTED_MODULES)}
    all_neurons = [node for node in flow.edges if isinstance(module_of(graph, node), NEURONS)]
    depth = {str(neuron.target): position for position, neuron in enumerate(all_neurons)}
    for neuron in all_neurons:
        feeding = [node for node in layers if _first_neuron(graph, node) is neuron]
        if feeding:
            main = max(feeding, key=lambda node: max((depth[name] for name in layers[node].producers), default=-1))
            neurons = _size(flow.outputs[neuron.name])
            arrivals = tuple(sorted(flow.edges[neuron.all_input_nodes[0]].producers))
            additions = _additions(flow, neuron)
            layers[main] = replace(layers[main], arrivals=arrivals, neurons=neurons, additions=additions)
    return list(layers.values())


def _layer(flow: SpikeFlow, node: fx.Node) -> LayerWorkload:
    graph, edges = flow.graph_module, flow.edges
    module: Any = module_of(graph, node)
    source = node.all_input_nodes[0]
    neuron = _first_neuron(graph, node)
    is_conv = isinstance(module, _ConvNd)
    fan_in = module.weight[0].numel()
    macs = fan_in * _size(flow.outputs[node.name])
    if getattr(module, "transposed", False):  # whose weights stand input by input
        macs, fan_in = fan_in * _size(flow.inputs[node.name]), module.weight[:, 0].numel() // module.groups
    return LayerWorkload(
        path=str(node.target),
        kind="conv" if is_conv else "linear",
        input_shape=flow.inputs[node.name],
        output_shape=flow.outputs[node.name],
        kernel=tuple(module.kernel_size) if is_conv else (),
        stride=tuple(module.stride) if is_conv else (),
        padding=_padding(module) if is_conv else (),
        dilation=tuple(module.dilation) if is_conv else (),
        groups=module.groups if is_conv else 1,
        macs=macs,
        fan_in=fan_in,
        producers=tuple(sorted(edges[source].producers)),
        producer_levels=edges[source].timesteps if edges[source].producers else None,
        graded_input=bool(edges[source].producers) and _is_graded(graph, source),
        pool_operations=_pool_operations(flow, node),
        activation=str(neuron.target) if neuron else None,
        levels=edges[neuron].timesteps if neuron else None,
    )


def _with_spikes(layer: LayerWorkload, totals: dict[str, Spikes], images: int) -> LayerWorkload:
    arriving, own = totals[layer.path], totals.get(layer.activation or "", Spikes())
    spiking = layer.producer_levels is not None and not layer.graded_input
    return replace(
        layer,
        producer_spikes_per_neuron=arriving.spikes / arriving.elements if spiking else None,
        synaptic_operations=arriving.synapses / images if spiking else None,
        nonzero_macs=float(layer.macs) if layer.graded_input else arriving.nonzero_macs / images,
        spikes_per_neuron=own.spikes / own.elements if own.elements else None,
    )


def _additions(flow: SpikeFlow, neuron: fx.Node) -> int:
    """Element-wise additions and subtractions of branches on the way to a neuron."""
    calls = [node for node in _upstream(flow, neuron) if len(_arriving(node, flow.edges)) > 1]
    linear = [node for node in calls if property_of(node, module_of(flow.graph_module, node)) == LINEAR]
    return sum(_size(flow.outputs[node.name]) for node in linear)


def _pool_operations(flow: SpikeFlow, node: fx.Node) -> int:
    """Elements that poolings read between a layer and its producers: whatever returns fewer elements than it read."""
    pooling = [
        call
        for call in _upstream(flow, node)
        if property_of(call, module_of(flow.graph_module, call)) in (LINEAR, MAXIMUM)
        and call.name in flow.outputs
        and _size(flow.outputs[call.name]) < _size(flow.inputs[call.name])
    ]
    return sum(_size(flow.inputs[call.name]) for call in pooling)


def _upstream(flow: SpikeFlow, node: fx.Node) -> list[fx.Node]:
    """The calls between earlier neurons or weighted layers and this one."""
    seen: dict[fx.Node, None] = {}
    frontier = [node]
    while frontier:
        for source in _arriving(frontier.pop(), flow.edges):
            if source not in seen and not _ends_segment(flow.graph_module, source):
                seen[source] = None
                frontier.append(source)
    return list(seen)


def _first_neuron(graph: fx.GraphModule, node: fx.Node) -> fx.Node | None:
    """The first neuron in forward order that the node's output reaches without another weighted layer between."""
    reached: set[fx.Node] = set()
    frontier, seen = [node], {node}
    while frontier:
        for user in frontier.pop().users:
            module = module_of(graph, user)
            if isinstance(module, NEURONS):
                reached.add(user)
            elif user not in seen and not isinstance(module, WEIGHTED_MODULES):
                seen.add(user)
                frontier.append(user)
    return next((n for n in graph.graph.nodes if n in reached), None)


def _is_graded(graph: fx.GraphModule, node: fx.Node) -> bool:
    """Whether currents, not spikes, arrive: a weighted layer or a batch norm stands behind the last neuron."""
    frontier, seen = [node], {node}
    while frontier:
        node = frontier.pop()
        if isinstance(module_of(graph, node), (_BatchNorm, *WEIGHTED_MODULES)):
            return True
        if not _ends_segment(graph, node):
            frontier += [source for source in node.all_input_nodes if source not in seen]
            seen.update(node.all_input_nodes)
    return False


def _ends_segment(graph: fx.GraphModule, node: fx.Node) -> bool:
    return node.op == "placeholder" or isinstance(module_of(graph, node), (*NEURONS, *WEIGHTED_MODULES))


def _arriving(node: fx.Node, edges: Edges) -> list[fx.Node]:
    return [source for source in node.all_input_nodes if source in edges]


def _padding(module: _ConvNd) -> tuple[int, ...]:
    if isinstance(module.padding, str):
        reach = [(k - 1) * d // 2 for k, d in zip(module.kernel_size, module.dilation, strict=True)]
        return tuple(reach) if module.padding == "same" else (0,) * len(reach)
    return tuple(module.padding)


def _size(shape: tuple[int, ...]) -> int:
    return torch.Size(shape).numel()
