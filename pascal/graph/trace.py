"""From a torch module to a graph of calls, with neurons as leaves."""

import inspect
import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from pascal.checks import shown
from pascal.errors import PascalError
from pascal.graph.arguments import argument
from pascal.graph.images import dtype_and_device, duplicate
from pascal.graph.tracing import NeuronTracer, find_probe, is_customised, prove, spell_maxima
from pascal.graph.tracing.place import place_of
from pascal.neurons import QCFS

DROPOUTS = {F.dropout: nn.Dropout, F.dropout1d: nn.Dropout1d, F.dropout2d: nn.Dropout2d, F.dropout3d: nn.Dropout3d}


@torch.random.fork_rng([])  # a network may draw numbers while it is traced
def trace(model: nn.Module, example: Tensor | None = None) -> fx.GraphModule:
    """A copy of `model` as a graph of pure calls, as it computes at inference; its modules keep paths and mode.

    The graph is proven: on a probe (the first two of `example`, or images made to fit) it returns what `model` does.
    """
    model = unwrapped(model)
    if example is not None and (not isinstance(example, Tensor) or example.ndim < 2 or not len(example)):
        raise PascalError(f"example: got {shown(example)}, expected a batch of images, (N, C, H, W)")
    _takes_images(model)
    if example is None and isinstance(model, fx.GraphModule) and "images_apart" in model.meta:
        traced = _traced_again(model)
        if traced is not None:
            return traced
    found = find_probe(model, example)
    if found is None:
        raise PascalError(
            f"{type(model).__name__}: none of the usual image shapes fits; pass example=images to show which it takes"
        )
    probe, moved, expected = found
    traced = record(duplicate(model), probe)
    prove(traced, moved, probe, expected)
    return _in_mode_of(model, traced)


def _in_mode_of(model: nn.Module, traced: fx.GraphModule) -> fx.GraphModule:
    modes = {path: module.training for path, module in model.named_modules()}
    for path, module in traced.named_modules():
        module.training = modes.get(path, model.training)
    return traced


def _traced_again(model: fx.GraphModule) -> fx.GraphModule | None:
    """A graph that was proven before, whose calls are still the same."""
    dtype, device = dtype_and_device(model)
    probe = torch.zeros(model.meta["probe"], dtype=dtype, device=device)
    traced = record(duplicate(model), probe)
    if len(traced.graph.nodes) != len(model.graph.nodes):
        return None
    traced.meta["images_apart"] = model.meta["images_apart"]
    return _in_mode_of(model, traced)


def _takes_images(model: nn.Module) -> None:
    given = list(inspect.signature(model.forward).parameters.values())
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p.name for p in given if p.default is p.empty and p.kind in kinds]
    if len(needed) > 1:
        raise PascalError(
            f"{type(model).__name__} must take one tensor, the images; its forward asks for {', '.join(needed)}"
        )


def unwrapped(model: nn.Module) -> nn.Module:
    """The network inside of DataParallel and its kin."""
    wrappers = (nn.DataParallel, nn.parallel.DistributedDataParallel)
    return unwrapped(model.module) if isinstance(model, wrappers) else model


def network_name(model: nn.Module) -> str:
    """The class that a network had before it was traced."""
    model = unwrapped(model)
    return model.meta.get("name", "network") if isinstance(model, fx.GraphModule) else type(model).__name__


def record(model: nn.Module, probe: Tensor, inert: frozenset[str] = frozenset()) -> fx.GraphModule:
    """The graph of what `model` does to the probe in the mode it is in; `model` becomes part of it."""
    tracer = NeuronTracer(probe, inert, _make_pure(model))
    versions = {name: buffer._version for name, buffer in model.named_buffers()}
    try:
        graph = tracer.trace(model)
    except Exception as error:  # fx raises many kinds: TraceError, TypeError, the model's own
        place = place_of(error, model)
        raise PascalError(f"{type(model).__name__} cannot be traced{place}: {error}") from error
    changed = [name for name, buffer in model.named_buffers() if buffer._version != versions.get(name, -1)]
    if changed and not model.training:
        raise PascalError(f"{changed[0]}: forward changes this buffer, so that calls depend on earlier ones; leave it")
    graph._tracer_cls = fx.Tracer  # a saved graph is read again without a probe
    traced = fx.GraphModule(model, graph, type(model).__name__)
    traced.meta["name"] = network_name(model)
    traced.meta["probe"], traced.meta["inert"] = tuple(probe.shape), frozenset(tracer.inert)
    for node in graph.nodes:
        node.meta["inert"] = node.op == "call_module" and node.target in tracer.inert
    _drop_hooks(traced)
    spell_maxima(graph)
    _drop_assertions(traced)
    _restore_batch_norms(traced, model)
    _restore_dropouts(traced, model.training)
    traced.graph.lint()
    traced.recompile()
    return traced


def _make_pure(model: nn.Module) -> frozenset[str]:
    """Modules of torch stop to write into what they read; returns the paths of those that did."""
    named = [(path, module) for path, module in model.named_modules(remove_duplicate=False) if _writes(module)]
    for _, module in named:
        module.inplace = False  # type: ignore[assignment]
    return frozenset(path for path, _ in named)


def _writes(module: nn.Module) -> bool:
    """Whether it is a module of torch's that works in place; forward of a user's own is traced as it stands."""
    of_torch = type(module).__module__.startswith("torch.nn") and not is_customised(module)
    return getattr(module, "inplace", False) is True and of_torch


def _drop_hooks(traced: fx.GraphModule) -> None:
    """Hooks have been traced: they are calls of the graph."""
    for module in traced.modules():
        if isinstance(module, QCFS):
            module._forward_hooks.clear()
            module._forward_pre_hooks.clear()


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


def _restore_batch_norms(traced: fx.GraphModule, model: nn.Module) -> None:
    """Subclasses of batch norm that call the function become modules again, so that they fold and can be trained."""
    for node in traced.graph.find_nodes(op="call_function", target=F.batch_norm):
        mean = argument(node, 1, "running_mean")
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


def _restore_dropouts(traced: fx.GraphModule, in_training: bool) -> None:
    """Functional dropout, traced at inference, would stay off; as a module it follows train() and eval()."""
    for node in list(traced.graph.nodes):
        if node.target in DROPOUTS and (in_training or not _stays_on(node)):
            rate = argument(node, 1, "p", 0.5)
            path = free_path(traced, path_of(node))
            traced.add_submodule(path, DROPOUTS[node.target](rate))
            call_module_instead(traced, node, path)


def _stays_on(node: fx.Node) -> bool:
    return bool(argument(node, 2, "training", True))


def call_module_instead(traced: fx.GraphModule, node: fx.Node, path: str) -> None:
    """Replace a call by a call of the module at `path` on the same first argument."""
    source = argument(node, 0, "input")
    with traced.graph.inserting_before(node):
        replacement = traced.graph.call_module(path, (source,))
    replacement.meta = dict(node.meta)
    node.replace_all_uses_with(replacement)
    traced.graph.erase_node(node)


def call(traced: fx.GraphModule, node: fx.Node, args: Any, kwargs: Any) -> Any:
    """Execute one node on given arguments, whatever their strides."""
    if (node.op, node.target) == ("call_method", "view"):
        return args[0].reshape(*args[1:], **kwargs)
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
