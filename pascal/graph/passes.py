"""The rewrites that turn an ANN's graph into an SNN's, each on our own copy of the model."""

import copy
import operator
from typing import Any

from torch import Tensor, fx, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

from pascal.graph.arguments import named_arguments
from pascal.graph.contractions import Contraction, as_linear, contraction_of
from pascal.graph.operations import Operation, operation_of, terms_of
from pascal.graph.timesteps import Edges
from pascal.graph.trace import (
    attribute,
    call,
    call_module_instead,
    free_path,
    module_of,
    neuron_nodes,
    owner_type,
    path_of,
    scope_of,
)
from pascal.neurons.modules import IF, PASC


def separate_calls(traced: fx.GraphModule) -> None:
    """A module called twice becomes two modules, because its constants may be shared among different timesteps."""
    seen: set[str] = set()
    for node in traced.graph.nodes:
        if node.op != "call_module":
            continue
        if node.target in seen:
            path = free_path(traced, node.target)
            traced.add_submodule(path, copy.deepcopy(traced.get_submodule(node.target)))
            node.target = path
        seen.add(node.target)
    _finish(traced)


def restore_weighted_modules(traced: fx.GraphModule) -> None:
    """Convolutions and products with constant weights, called as functions, become modules like any other."""
    for node in list(traced.graph.nodes):
        if node.target in _WEIGHTED and not _depends_on_images(node.all_input_nodes[1:]):
            weighted = _as_module(traced, node)
            path = scope_of(node) if issubclass(owner_type(node), _ConvNd | nn.Linear) else path_of(node)
            traced.add_submodule(path, weighted)
            call_module_instead(traced, node, path)
        elif (found := contraction_of(node, lambda value: _constant_tensor(traced, value))) is not None:
            _contract(traced, node, found)
    _finish(traced)


_WEIGHTED: dict[Any, type[nn.Module]] = {
    F.conv1d: nn.Conv1d,
    F.conv2d: nn.Conv2d,
    F.conv3d: nn.Conv3d,
    F.conv_transpose1d: nn.ConvTranspose1d,
    F.conv_transpose2d: nn.ConvTranspose2d,
    F.conv_transpose3d: nn.ConvTranspose3d,
    F.linear: nn.Linear,
}


def _contract(traced: fx.GraphModule, node: fx.Node, found: Contraction) -> None:
    """A fully connected layer in the place of a product, on the axis that it acts on."""
    path = free_path(traced, path_of(node))
    traced.add_submodule(path, as_linear(found))
    last = (*(axis for axis in range(len(found.order)) if axis != found.axis), found.axis)
    with traced.graph.inserting_before(node):
        source = _permuted(traced, found.source, last)
        made = traced.graph.call_module(path, (source,))
        made.meta = {**node.meta, "shape": (*source.meta["shape"][:-1], len(found.weight))}
        after = _permuted(traced, made, tuple(last.index(axis) for axis in found.order))
    node.replace_all_uses_with(after)
    traced.graph.erase_node(node)


def _permuted(traced: fx.GraphModule, source: fx.Node, order: tuple[int, ...]) -> fx.Node:
    if order == tuple(range(len(order))):
        return source
    moved = traced.graph.call_method("permute", (source, *order))
    moved.meta = {**source.meta, "shape": tuple(source.meta["shape"][axis] for axis in order)}
    return moved


def _constant_tensor(traced: fx.GraphModule, value: Any) -> Tensor | None:
    """The tensor that an argument is for all images."""
    if not isinstance(value, fx.Node) or _depends_on_images([value]):
        return None
    found = _constant(traced, value)
    return found if isinstance(found, Tensor) else None


def _depends_on_images(nodes: list[fx.Node]) -> bool:
    frontier, seen = list(nodes), set(nodes)
    while frontier:
        node = frontier.pop()
        if node.op == "placeholder":
            return True
        frontier += [source for source in node.all_input_nodes if source not in seen]
        seen.update(node.all_input_nodes)
    return False


def _as_module(traced: fx.GraphModule, node: fx.Node) -> nn.Module:
    kind: Any = _WEIGHTED[node.target]
    transposed = issubclass(kind, _ConvTransposeNd)
    last = ("output_padding", "groups", "dilation") if transposed else ("dilation", "groups")
    given = named_arguments(node, ("input", "weight", "bias", "stride", "padding", *last))
    weight, bias = (_constant(traced, given.pop(name, None)) for name in ("weight", "bias"))
    given.pop("input", None)
    module: nn.Module
    if kind is nn.Linear:
        module = nn.Linear(weight.shape[1], weight.shape[0], bias is not None)
    else:
        channels = weight.shape[0], weight.shape[1] * given.get("groups", 1)
        inputs, outputs = channels if transposed else channels[::-1]
        module = kind(inputs, outputs, weight.shape[2:], bias=bias is not None, **given)
    module.weight = nn.Parameter(weight)
    if bias is not None:
        module.bias = nn.Parameter(bias)
    return module.eval()


def _constant(traced: fx.GraphModule, argument: Any) -> Any:
    """The value of a constant, computed from the parameters it stems from."""
    if not isinstance(argument, fx.Node):
        return argument
    if argument.op == "get_attr":
        value = attribute(traced, str(argument.target))
        return value.detach() if isinstance(value, Tensor) else value
    args, kwargs = fx.map_arg((argument.args, argument.kwargs), lambda node: _constant(traced, node))
    value = call(traced, argument, args, kwargs)
    return value.detach() if isinstance(value, Tensor) else value


def fold_batch_norm(traced: fx.GraphModule) -> None:
    """Batch norm directly behind a convolution or fully connected layer becomes part of its weights."""
    for node in list(traced.graph.nodes):
        norm = module_of(traced, node)
        if not isinstance(norm, _BatchNorm) or norm.running_mean is None:
            continue
        source = node.args[0]
        weighted = module_of(traced, source)
        if len(source.users) > 1 or not isinstance(weighted, _ConvNd | nn.Linear) or _is_transposed(weighted):
            continue
        if isinstance(weighted, nn.Linear) and len(source.meta["shape"]) > 2:  # whose channels are last, not second
            continue
        traced.set_submodule(source.target, _fused(weighted, norm))
        node.replace_all_uses_with(source)
        traced.graph.erase_node(node)
    _finish(traced)


def _is_transposed(module: nn.Module) -> bool:
    return isinstance(module, _ConvNd) and module.transposed


def _fused(weighted: nn.Module, norm: _BatchNorm) -> nn.Module:
    fuse: Any = fuse_linear_bn_eval if isinstance(weighted, nn.Linear) else fuse_conv_bn_eval
    return fuse(weighted.eval(), norm.eval())


def share_constants(traced: fx.GraphModule, edges: Edges) -> None:
    """Theorem 3.3: b' = b/T, μ' = μ/T, β' = β/T, so that the timesteps of an edge sum up to the ANN's value."""
    for node in list(traced.graph.nodes):
        if node not in edges or edges[node].timesteps == 1:
            continue
        timesteps = edges[node].timesteps
        module = module_of(traced, node)
        if isinstance(module, _ConvNd | nn.Linear):
            _divide(module, ("bias",), timesteps)
        elif isinstance(module, _BatchNorm):
            _divide(module, ("bias", "running_mean"), timesteps)
        elif module is None:
            _share_arguments(traced, node, edges, timesteps)
    _finish(traced)


def _divide(module: nn.Module, names: tuple[str, ...], timesteps: int) -> None:
    for name in names:
        constant = getattr(module, name, None)
        if constant is not None:
            constant.data = constant.data / timesteps


def _share_arguments(traced: fx.GraphModule, node: fx.Node, edges: Edges, timesteps: int) -> None:
    """Constants among the terms of a sum or a concatenation."""
    row = operation_of(node, None)
    if row is None:
        return
    for name, term in list(terms_of(node, row)):
        shared = fx.node.map_aggregate(term, lambda leaf: _shared(traced, node, leaf, edges, timesteps))
        _set_argument(node, row, name, shared)
    if row.factors and row.terms and not any(source in edges for source in _factors(node, row)):
        scale = "value" if "value" in row.arguments else "alpha"  # a constant product that is added
        given = row.bind(node).get(scale, 1)
        _set_argument(node, row, scale, _shared(traced, node, given, edges, timesteps))


def _factors(node: fx.Node, row: Operation) -> list[Any]:
    return [row.bind(node).get(name) for name in row.factors]


def _set_argument(node: fx.Node, row: Operation, name: str, value: Any) -> None:
    position = row.arguments.index(name)
    if position < len(node.args):
        node.update_arg(position, value)
    else:
        spelled = next((key for key in node.kwargs if key in (name, "self", "tensor")), name)
        node.update_kwarg(spelled if name == "input" else name, value)


def _shared(traced: fx.GraphModule, node: fx.Node, constant: Any, edges: Edges, timesteps: int) -> Any:
    if constant is None or constant in edges:
        return constant
    if not isinstance(constant, fx.Node):
        return constant / timesteps if isinstance(constant, int | float) else constant
    with traced.graph.inserting_before(node):
        return traced.graph.call_function(operator.truediv, (constant, timesteps))


def replace_activations(traced: fx.GraphModule) -> None:
    """Every QCFS becomes the PASC neuron with its step and levels."""
    for node, qcfs in list(neuron_nodes(traced)):
        traced.set_submodule(str(node.target), PASC(qcfs.step.detach().clone(), qcfs.levels))
    _finish(traced)


def replace_activations_plain(traced: fx.GraphModule) -> None:
    """Every QCFS becomes the plain IF neuron, whose spike is worth the whole threshold."""
    for node, qcfs in list(neuron_nodes(traced)):
        traced.set_submodule(str(node.target), IF(qcfs.threshold.detach().clone()))
    _finish(traced)


def _finish(traced: fx.GraphModule) -> None:
    traced.graph.eliminate_dead_code()
    traced.graph.lint()
    traced.recompile()
