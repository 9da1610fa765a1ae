"""Rewrites of the counts engine: steps and halves move into weights and biases, additions work in place.

Preactivations keep the ANN's own unit. Only what neurons hand on changes: counts instead of activations, wherever
every reader can take the step into its weights (or, where branches meet, into the factor of the addition).
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm

from pascal.graph.operations import LINEAR, MAXIMUM, STRUCTURAL, WEIGHTED_MODULES, call_name, property_of
from pascal.graph.sums import add_into
from pascal.graph.timesteps import Edges
from pascal.graph.trace import module_of, neuron_nodes
from pascal.neurons.counting import CountingPASC

_INHOMOGENEOUS = ("add", "sub", "add_into", "batch_norm", "conv1d", "conv2d", "conv3d", "linear")


def count_spikes(traced: fx.GraphModule) -> None:
    """Every QCFS becomes the PASC neuron in closed form."""
    for node, qcfs in list(neuron_nodes(traced)):
        traced.set_submodule(str(node.target), CountingPASC(qcfs.step.detach().clone(), qcfs.levels))


def fold_steps(traced: fx.GraphModule, edges: Edges) -> None:
    """A neuron's step moves into the weights that read its spikes; where one reader cannot, the neuron keeps it."""
    for node, neuron in _neurons(traced):
        readers = list(_readers(traced, node, edges))
        distinct = len({reader for reader, _ in readers}) == len(readers)
        if distinct and all(_can_take_step(traced, reader, operand, edges) for reader, operand in readers):
            for reader, operand in readers:
                _take_step(traced, reader, operand, neuron.step)
            neuron.hands_on_counts = True


def fold_halves(traced: fx.GraphModule) -> None:
    """θ*/2 joins a bias that reaches this neuron alone."""
    for node, neuron in _neurons(traced):
        host = _bias_host(traced, node.all_input_nodes[0])
        if host is not None:
            half = neuron.step / 2
            bias = half.expand(_outputs(host)) if host.bias is None else host.bias + half
            host.bias = nn.Parameter(bias.clone(), requires_grad=False)
            neuron.half_arrives = True


def work_in_place(traced: fx.GraphModule) -> None:
    """Sums and counts overwrite the currents of a weighted layer that nobody else reads."""
    for node in traced.graph.nodes:
        if node.op == "call_method" and node.target == "view":
            node.target = "reshape"  # channels-last tensors have no such view
        if not _is_sum(node) or call_name(node, None) != "add":
            continue
        if not node.kwargs and not _is_fresh(traced, node.args[0]):
            node.args = node.args[::-1]
        if _is_fresh(traced, node.args[0]):
            node.op, node.target = "call_function", add_into
    for node, neuron in _neurons(traced):
        neuron.overwrites = _is_fresh(traced, node.all_input_nodes[0])
    traced.graph.lint()
    traced.recompile()


def _neurons(traced: fx.GraphModule) -> Iterator[tuple[fx.Node, CountingPASC]]:
    for node in traced.graph.nodes:
        module = module_of(traced, node)
        if isinstance(module, CountingPASC):
            yield node, module


def _readers(traced: fx.GraphModule, node: fx.Node, edges: Edges) -> Iterator[tuple[fx.Node, fx.Node]]:
    """(reader, operand): the calls that use this edge, seen through calls that only move, pool or scale its values."""
    for user in node.users:
        if user in edges and _is_homogeneous(traced, user, edges):
            yield from _readers(traced, user, edges)
        elif user in edges or user.op == "output":
            yield user, node


def _is_homogeneous(traced: fx.GraphModule, node: fx.Node, edges: Edges) -> bool:
    """Whether the call reads one edge and a factor on it is a factor on the result."""
    module = module_of(traced, node)
    if isinstance(module, (CountingPASC, _BatchNorm, *WEIGHTED_MODULES)) or len(_arriving(node, edges)) != 1:
        return False
    return property_of(node, module) in (STRUCTURAL, LINEAR, MAXIMUM) and call_name(node, module) not in _INHOMOGENEOUS


def _arriving(node: fx.Node, edges: Edges) -> list[fx.Node]:
    return [source for source in node.all_input_nodes if source in edges]


def _can_take_step(traced: fx.GraphModule, reader: fx.Node, operand: fx.Node, edges: Edges) -> bool:
    if isinstance(module_of(traced, reader), WEIGHTED_MODULES):
        return True
    if reader.kwargs or not _is_sum(reader) or len(_arriving(reader, edges)) != 2:
        return False
    return call_name(reader, None) == "add" or operand is reader.args[1]


def _take_step(traced: fx.GraphModule, reader: fx.Node, operand: fx.Node, step: Tensor) -> None:
    module: Any = module_of(traced, reader)
    if module is not None:
        scaled = (module.weight.double() * step.double()).to(module.weight.dtype)
        module.weight = nn.Parameter(scaled, requires_grad=False)
        return
    subtracts = call_name(reader, None) == "sub"
    other = next(arg for arg in reader.args if arg is not operand)
    reader.op, reader.target = "call_function", torch.sub if subtracts else torch.add
    reader.args, reader.kwargs = (other, operand), {"alpha": step.item()}


def _is_sum(node: fx.Node) -> bool:
    """A sum or difference of two different values, neither of them a number."""
    is_call = node.op in ("call_function", "call_method") and call_name(node, None) in ("add", "sub", "add_into")
    return is_call and len(node.args) == 2 and len({arg for arg in node.args if isinstance(arg, fx.Node)}) == 2


def _bias_host(traced: fx.GraphModule, node: fx.Node) -> Any:
    """A module whose bias reaches the only reader of this edge unchanged, if there is one."""
    module = module_of(traced, node)
    if len(node.users) > 1:
        return None
    if isinstance(module, WEIGHTED_MODULES) or (isinstance(module, _BatchNorm) and module.affine):
        return module
    if not _is_sum(node):
        return None
    unchanged = node.args if call_name(node, None) == "add" and not node.kwargs else node.args[:1]
    return next(filter(None, (_bias_host(traced, arg) for arg in unchanged)), None)  # type: ignore[arg-type]


def _outputs(weighted: Any) -> int:
    return weighted.out_features if isinstance(weighted, nn.Linear) else weighted.out_channels


def _is_fresh(traced: fx.GraphModule, node: Any) -> bool:
    """Whether the value is a tensor of its own with one reader: currents of a weighted layer, or their sum."""
    if not isinstance(node, fx.Node) or len(node.users) != 1:
        return False
    is_weighted = isinstance(module_of(traced, node), WEIGHTED_MODULES)
    return is_weighted or _is_sum(node)
