"""Rewrites of the counts engine: steps and halves move into weights and biases, additions work in place.

Preactivations keep the ANN's own unit. Only what neurons hand on changes: counts instead of activations, wherever
every reader can take the step into its weights (or, where branches meet, into the factor of the addition).
"""

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd

from pascal.graph.operations import LINEAR, MAXIMUM, STRUCTURAL, WEIGHTED_MODULES, call_name, operation_of, terms_of
from pascal.graph.sums import add_into, add_scaled
from pascal.graph.timesteps import Edge, Edges
from pascal.graph.trace import module_of, neuron_nodes
from pascal.neurons.counting import CountingPASC

_SUMS = ("add", "sub", "add_into", "add_scaled")


def count_spikes(traced: fx.GraphModule) -> None:
    """Every QCFS becomes the PASC neuron in closed form."""
    for node, qcfs in list(neuron_nodes(traced)):
        traced.set_submodule(str(node.target), CountingPASC(qcfs.step.detach().clone(), qcfs.levels))


def fold_steps(traced: fx.GraphModule, edges: Edges) -> None:
    """A neuron's step moves into the weights that read its spikes; where one reader cannot, the neuron keeps it."""
    for node, neuron in _neurons(traced):
        readers = list(_readers(traced, node, edges, neuron.step))
        distinct = len({reader for reader, _ in readers}) == len(readers)
        if distinct and all(_can_take_step(traced, *reader, edges, neuron.step) for reader in readers):
            for reader, operand in readers:
                _take_step(traced, reader, operand, node)
            neuron.hands_on_counts = True


def fold_halves(traced: fx.GraphModule) -> None:
    """θ*/2 joins a bias that reaches this neuron alone."""
    for node, neuron in _neurons(traced):
        host = _bias_host(traced, node.all_input_nodes[0])
        if host is not None and (neuron.step.ndim == 0 or not isinstance(host, nn.Linear)):  # whose channels are last
            half = neuron.step / 2
            bias = half.expand(_outputs(host)) if host.bias is None else host.bias + half
            host.bias = nn.Parameter(bias.clone(), requires_grad=False)
            neuron.half_arrives = True


def work_in_place(traced: fx.GraphModule) -> None:
    """Sums and counts overwrite the currents of a weighted layer that nobody else reads."""
    for node in traced.graph.nodes:
        if node.op == "call_method" and node.target == "view":
            node.target = "reshape"  # channels-last tensors have no such view
        if not _is_sum(node) or call_name(node, None) not in ("add", "add_scaled"):
            continue
        if not node.kwargs and not _is_fresh(traced, node.args[0]):
            node.args = node.args[::-1]
        if node.target is add_scaled:
            node.update_kwarg("into", _is_fresh(traced, node.args[0]))
        elif _is_fresh(traced, node.args[0]):
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


def _readers(traced: fx.GraphModule, node: fx.Node, edges: Edges, step: Tensor) -> Iterator[tuple[fx.Node, fx.Node]]:
    """(reader, operand): the calls that use this edge, seen through calls that only move, pool or scale its values.

    Steps per channel are seen through those alone that leave every channel in its place.
    """
    for user in node.users:
        seen_through = user in edges and _is_homogeneous(traced, user, edges)
        if seen_through and (step.ndim == 0 or _is_local(traced, user, edges[node])):
            yield from _readers(traced, user, edges, step)
        elif user in edges or user.op == "output":
            yield user, node


def _is_homogeneous(traced: fx.GraphModule, node: fx.Node, edges: Edges) -> bool:
    """Whether the call reads one edge and a factor on it is a factor on the result: it adds no constants."""
    module = module_of(traced, node)
    if isinstance(module, (CountingPASC, _BatchNorm, *WEIGHTED_MODULES)) or len(_arriving(node, edges)) != 1:
        return False
    row = operation_of(node, module)
    if row is None or row.kind not in (STRUCTURAL, LINEAR, MAXIMUM):
        return False
    terms: list[Any] = []
    fx.node.map_aggregate([term for _, term in terms_of(node, row)], terms.append)
    return all(term in edges for term in terms) and not (row.terms and row.factors)


def _arriving(node: fx.Node, edges: Edges) -> list[fx.Node]:
    return [source for source in node.all_input_nodes if source in edges]


def _is_local(traced: fx.GraphModule, node: fx.Node, arriving: Edge) -> bool:
    """Whether the call works within each channel, and the channels stay in their order."""
    module = module_of(traced, node)
    name = call_name(node, module).lower()
    if "pool" in name:
        return name.removesuffix("d")[-1] == str(arriving.places)
    return isinstance(module, _DropoutNd | nn.Identity) or name in ("contiguous", "clone", "detach", "stochastic_depth")


def _can_take_step(traced: fx.GraphModule, reader: fx.Node, operand: fx.Node, edges: Edges, step: Tensor) -> bool:
    module = module_of(traced, reader)
    if isinstance(module, WEIGHTED_MODULES):
        return step.ndim == 0 or _reads_channels(module, edges[operand])
    if reader.kwargs or not _is_sum(reader) or len(_arriving(reader, edges)) != 2:
        return False
    return call_name(reader, None) == "add" or operand is reader.args[1]


def _reads_channels(module: nn.Module, arriving: Edge) -> bool:
    """Whether the inputs of the weights are the channels of axis 1; those of fully connected layers are the last."""
    return isinstance(module, _ConvNd) and not module.transposed and len(module.kernel_size) == arriving.places


def _take_step(traced: fx.GraphModule, reader: fx.Node, operand: fx.Node, node: fx.Node) -> None:
    module, neuron = cast(Any, module_of(traced, reader)), cast(CountingPASC, module_of(traced, node))
    if module is not None:
        worth = per_weight(neuron.step.double(), module)
        module.weight = nn.Parameter((module.weight.double() * worth).to(module.weight.dtype), requires_grad=False)
        return
    subtracts = call_name(reader, None) == "sub"
    other = next(arg for arg in reader.args if arg is not operand)
    reader.op, reader.args = "call_function", (other, operand)
    if neuron.step.ndim == 0:
        reader.target, reader.kwargs = torch.sub if subtracts else torch.add, {"alpha": neuron.step.item()}
        return
    with traced.graph.inserting_before(reader):
        alpha = traced.graph.get_attr(f"{node.target}.step")
    reader.target, reader.kwargs = add_scaled, {"alpha": alpha, "sign": -1 if subtracts else 1}


def per_weight(worth: Tensor, module: Any) -> Tensor:
    """What one spike of each input channel is worth, as it multiplies the weights of a convolution."""
    if worth.ndim == 0:
        return worth
    outputs = len(module.weight)
    grouped = worth.view(module.groups, 1, -1).expand(-1, outputs // module.groups, -1).reshape(outputs, -1)
    return grouped.view(*grouped.shape, *[1] * (module.weight.ndim - 2))


def _is_sum(node: fx.Node) -> bool:
    """A sum or difference of two different values, neither of them a number."""
    is_call = node.op in ("call_function", "call_method") and call_name(node, None) in _SUMS
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
