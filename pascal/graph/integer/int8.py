"""Which calls of an integer network run on INT8 kernels, each with the neurons behind it."""

import operator
from typing import Any

import torch
from torch import Tensor, fx, nn

from pascal.graph.integer.build import IntegerNetwork
from pascal.graph.integer.kernels import (
    LARGEST_COUNT,
    Int8Currents,
    Int8Identity,
    Int8Layer,
    Int8Meeting,
    Int8Neurons,
    as_bytes,
    max_pool_bytes,
    rounds_safely,
    runs_on_kernels,
)
from pascal.graph.integer.modules import IntegerAffine, IntegerPASC, IntegerWeighted
from pascal.graph.operations import STRUCTURAL, call_name, property_of
from pascal.graph.trace import module_of

_NOT_FOR_BYTES = ("shuffle", "unfold")


def accelerate(network: IntegerNetwork) -> fx.GraphModule:
    """The same integers from INT8 kernels, where they are exact; elsewhere the calls stay as they are."""
    graph = fx.Graph()
    graph.output(graph.graph_copy(network.graph.graph, {}))
    fusion = _Fusion(network, fx.GraphModule(network.graph, graph, "Int8Network"))
    for node in graph.nodes:
        fusion.fuse_neurons(node)
    graph.eliminate_dead_code()
    for node in list(graph.nodes):
        fusion.use_bytes(node)
    fusion.module.delete_all_unused_submodules()
    graph.lint()
    fusion.module.recompile()
    return fusion.module.eval()


class _Fusion:
    """Calls are changed in their place, so that they keep their names."""

    def __init__(self, network: IntegerNetwork, module: fx.GraphModule) -> None:
        self.network, self.module = network, module

    def fuse_neurons(self, node: fx.Node) -> None:
        """Neurons move into the layer that they read, alone or where it meets one other term."""
        if not isinstance(module_of(self.module, node), IntegerPASC):
            return
        total: Any = node.args[0]
        if self._fits(total) and len(total.users) == 1:
            self._fuse(node, total, None)
        elif total.target is operator.add and len(total.users) == 1:
            fitting = [term for term in total.args if self._fits(term, nn.Conv2d) and len(term.users) == 1]
            for main in fitting[:1]:
                self._fuse(node, main, next(term for term in total.args if term is not main))

    def use_bytes(self, node: fx.Node) -> None:
        """Remaining layers run on kernels by themselves, and spikes travel as bytes."""
        layer: Any = module_of(self.module, node)
        if self._fits(node) and self.network.largest[node.name] < 2**24:  # float32 holds the sums
            self._put(node, Int8Currents(layer, torch.ones_like(layer.constant)), node.args)
        elif isinstance(layer, IntegerPASC) and layer.levels <= LARGEST_COUNT:
            with self.module.graph.inserting_after(node):
                held = self.module.graph.call_function(as_bytes, (node,))
            node.replace_all_uses_with(held, delete_user_cb=lambda user: user is not held)
        elif node.name in self.network.spiking and not isinstance(layer, Int8Layer):
            self._pass_bytes(node, layer)

    def _fuse(self, node: fx.Node, main: fx.Node, other: fx.Node | None) -> None:
        neuron: Any = module_of(self.module, node)
        layer: Any = module_of(self.module, main)
        threshold = _per_channel(neuron.threshold, layer)
        others = 0 if other is None else self.network.largest[other.name]
        if threshold is None or not rounds_safely(layer, threshold, neuron.levels, others):
            return
        if other is None:
            self._put(node, Int8Neurons(layer, threshold, neuron.levels), main.args)
        elif (joining := self._joining(other, layer, threshold)) is not None:
            self._put(other, joining, other.args)
            self._put(node, Int8Meeting(layer, threshold, neuron.levels), (main.args[0], other))

    def _joining(self, node: fx.Node, layer: IntegerWeighted, threshold: Tensor) -> nn.Module | None:
        """What hands the term that a layer meets over, in units of the threshold."""
        module: Any = module_of(self.module, node)
        if len(node.users) > 1:
            return None
        if self._fits(node, nn.Conv2d):
            return Int8Currents(module, threshold)
        if not isinstance(module, IntegerAffine) or bool(module.constant.any()):
            return None
        multiplier = _per_channel(module.multiplier, layer)
        spiking = node.all_input_nodes[0].name in self.network.spiking
        return Int8Identity(multiplier, threshold) if multiplier is not None and spiking else None

    def _fits(self, node: fx.Node, kind: type = nn.Module) -> bool:
        """Whether the call is a layer that the kernels know, and reads counts small enough for them."""
        layer: Any = module_of(self.module, node)
        if not runs_on_kernels(layer) or not isinstance(layer.weighted, kind):
            return False
        source = node.all_input_nodes[0].name
        return source in self.network.spiking and self.network.largest[source] <= LARGEST_COUNT

    def _pass_bytes(self, node: fx.Node, module: nn.Module | None) -> None:
        """Calls that move spikes move bytes; those that torch has not for bytes get floats."""
        if isinstance(module, nn.MaxPool2d):
            options = {n: getattr(module, n) for n in ("kernel_size", "stride", "padding", "dilation", "ceil_mode")}
            node.op, node.target, node.kwargs = "call_function", max_pool_bytes, options
        elif call_name(node, module) == "max_pool2d":
            node.target = max_pool_bytes
            node.kwargs = {name: value for name, value in node.kwargs.items() if name != "return_indices"}
        elif property_of(node, module) != STRUCTURAL or any(
            n in call_name(node, module).lower() for n in _NOT_FOR_BYTES
        ):
            with self.module.graph.inserting_before(node):
                held = self.module.graph.call_method("float", (node.args[0],))
            node.update_arg(0, held)

    def _put(self, node: fx.Node, module: nn.Module, args: tuple[Any, ...]) -> None:
        self.module.set_submodule(str(node.target), module)
        node.args = args


def _per_channel(values: Tensor, layer: IntegerWeighted) -> Tensor | None:
    """One value per output of the layer, if that is what they are: a linear layer's outputs are its last axis."""
    outputs, axis = len(layer.constant), -1 if isinstance(layer.weighted, nn.Linear) else 1
    if values.numel() == 1:
        return values.flatten().expand(outputs)
    return values.flatten() if values.numel() == outputs == values.shape[axis] else None
