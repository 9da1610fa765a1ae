"""From a torch module to a graph of calls, with neurons as leaves."""

import copy
import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from pascal.errors import PascalError
from pascal.neurons import QCFS

DROPOUTS = {F.dropout: nn.Dropout, F.dropout1d: nn.Dropout1d, F.dropout2d: nn.Dropout2d, F.dropout3d: nn.Dropout3d}


class _NeuronTracer(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, QCFS) or super().is_leaf_module(m, module_qualified_name)


def trace(model: nn.Module) -> fx.GraphModule:
    """A copy of `model` as a graph, as it computes at inference; its modules keep their paths and their mode."""
    model_copy = copy.deepcopy(model).eval()
    try:
        graph = _NeuronTracer().trace(model_copy)
    except Exception as error:  # fx raises many kinds: TraceError, TypeError, the model's own
        raise PascalError(
            f"{type(model).__name__} cannot be traced: {error}. Control flow that depends on the data has no graph; "
            "make it constant, or convert the part without it"
        ) from error
    traced = fx.GraphModule(model_copy, graph, type(model).__name__)
    _drop_assertions(traced)
    _leave_operands_alone(traced)
    _restore_batch_norms(traced, model_copy)
    _restore_dropouts(traced)
    traced.graph.lint()
    traced.recompile()
    modes = {path: module.training for path, module in model.named_modules()}
    for path, module in traced.named_modules():
        module.training = modes.get(path, model.training)
    return traced


def neuron_nodes(traced: fx.GraphModule) -> Iterator[tuple[fx.Node, QCFS]]:
    """The calls of QCFS modules, in forward order."""
    for node in traced.graph.nodes:
        if node.op == "call_module":
            module = traced.get_submodule(node.target)
            if isinstance(module, QCFS):
                yield node, module


def module_of(traced: fx.GraphModule, node: fx.Node) -> nn.Module | None:
    """The module that a node calls, if it calls one."""
    return traced.get_submodule(str(node.target)) if node.op == "call_module" else None


def path_of(node: fx.Node) -> str:
    """Where in the model a call stands: the module's path, or the owner's path and the call's name."""
    if node.op == "call_module":
        return str(node.target)
    owner = scope_of(node)
    return f"{owner}.{node.name}" if owner else node.name


def scope_of(node: fx.Node) -> str:
    """The path of the module whose forward makes this call; '' for the model itself."""
    stack = list(node.meta.get("nn_module_stack", {}).values())
    return stack[-1][0] if stack else ""


def owner_type(node: fx.Node) -> type[nn.Module]:
    """The class of the module whose forward makes this call."""
    stack = list(node.meta.get("nn_module_stack", {}).values())
    return stack[-1][1] if stack else nn.Module


def free_path(traced: fx.GraphModule, path: str) -> str:
    """`path`, or the first of path_2, path_3, … that no module or attribute holds."""
    number, candidate = 1, path
    while _exists(traced, candidate):
        number += 1
        candidate = f"{path}_{number}"
    return candidate


def _exists(root: nn.Module, path: str) -> bool:
    target: object = root
    for name in path.split("."):
        if not hasattr(target, name):
            return False
        target = getattr(target, name)
    return True


def _drop_assertions(traced: fx.GraphModule) -> None:
    for node in reversed(traced.graph.nodes):
        if node.target is torch._assert:
            traced.graph.erase_node(node)
    traced.graph.eliminate_dead_code()


_IN_PLACE = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    "add_": "add",
    "sub_": "sub",
    "mul_": "mul",
    "div_": "div",
}


def _leave_operands_alone(traced: fx.GraphModule) -> None:
    """In-place arithmetic would change a stored train, or the user's images."""
    for node in traced.graph.nodes:
        node.target = _IN_PLACE.get(node.target, node.target) if node.op.startswith("call_") else node.target


def _restore_batch_norms(traced: fx.GraphModule, model: nn.Module) -> None:
    """Subclasses of batch norm that call the function become modules again, so that they fold and can be trained."""
    for node in traced.graph.find_nodes(op="call_function", target=F.batch_norm):
        mean = node.args[1] if len(node.args) > 1 else node.kwargs.get("running_mean")
        if not isinstance(mean, fx.Node) or mean.op != "get_attr":
            continue
        path = str(mean.target).rpartition(".")[0]
        owner = model.get_submodule(path)
        if isinstance(owner, _BatchNorm):
            traced.set_submodule(path, _plain_batch_norm(owner))
            call_module_instead(traced, node, path)
    traced.graph.eliminate_dead_code()


def _plain_batch_norm(owner: _BatchNorm) -> _BatchNorm:
    bases = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    plain = next(base for base in bases if isinstance(owner, base))(owner.num_features)
    plain.eps, plain.momentum, plain.affine = owner.eps, owner.momentum, owner.affine
    plain.track_running_stats = owner.track_running_stats
    for name in ("weight", "bias"):
        setattr(plain, name, getattr(owner, name))
    for name in ("running_mean", "running_var", "num_batches_tracked"):
        buffer: Tensor | None = getattr(owner, name)
        plain.register_buffer(name, buffer)
    for name, child in owner.named_children():
        plain.add_module(name, child)
    return plain.train(owner.training)


def _restore_dropouts(traced: fx.GraphModule) -> None:
    """Functional dropout, traced at inference, would stay off; as a module it follows train() and eval()."""
    for node in list(traced.graph.nodes):
        if node.target in DROPOUTS and not _stays_on(node):
            rate = node.args[1] if len(node.args) > 1 else node.kwargs.get("p", 0.5)
            path = free_path(traced, path_of(node))
            traced.add_submodule(path, DROPOUTS[node.target](rate))
            call_module_instead(traced, node, path)


def _stays_on(node: fx.Node) -> bool:
    return bool(node.args[2] if len(node.args) > 2 else node.kwargs.get("training", True))


def call_module_instead(traced: fx.GraphModule, node: fx.Node, path: str) -> None:
    """Replace a call by a call of the module at `path` on the same first argument."""
    source = node.args[0] if node.args else node.kwargs["input"]
    with traced.graph.inserting_before(node):
        replacement = traced.graph.call_module(path, (source,))
    replacement.meta = dict(node.meta)
    node.replace_all_uses_with(replacement)
    traced.graph.erase_node(node)


def call(traced: fx.GraphModule, node: fx.Node, args: Any, kwargs: Any) -> Any:
    """Execute one node on given arguments."""
    if node.op == "call_module":
        return traced.get_submodule(str(node.target))(*args, **kwargs)
    if node.op == "call_method":
        return getattr(args[0], str(node.target))(*args[1:], **kwargs)
    if node.op == "get_attr":
        return attribute(traced, str(node.target))
    return node.target(*args, **kwargs)  # type: ignore[operator]


def attribute(root: nn.Module, path: str) -> Any:
    """The parameter, buffer or constant at a dotted path."""
    return operator.attrgetter(path)(root)
