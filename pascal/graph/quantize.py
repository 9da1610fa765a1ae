"""Any torch module → the same module with QCFS in the place of every ReLU."""

from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F

from pascal.errors import PascalError
from pascal.graph.arguments import argument
from pascal.graph.images import dtype_and_device, duplicate
from pascal.graph.levels import set_levels
from pascal.graph.operations import MAXIMUM, call_name, operation_of, property_of
from pascal.graph.timesteps import count_timesteps
from pascal.graph.trace import (
    call_module_instead,
    free_path,
    module_of,
    neuron_nodes,
    path_of,
    record,
    scope_of,
    trace,
    unwrapped,
)
from pascal.graph.tracing import InferenceOnly, lost_in_training
from pascal.graph.tracing.training import refusal
from pascal.inference import check_model
from pascal.neurons import QCFS
from pascal.neurons.levels import Levels

_FUNCTIONS = {F.relu, F.relu6, torch.relu}
_CLAMPS = {"clamp", "clip", "clamp_min", torch.clamp, torch.clip, torch.clamp_min, F.hardtanh}


@torch.random.fork_rng([])  # probes are drawn, and the network may draw too
def quantize(
    model: nn.Module, levels: Levels = 8, threshold: float = 8.0, example: Tensor | None = None
) -> fx.GraphModule:
    """A copy of `model` in which every call of a ReLU or ReLU6 is a QCFS of its own, ready to be trained.

    Module calls keep their path; a second call of one shared ReLU becomes `path_2`. What cannot be converted later is
    refused now, with all offending calls in one error. `example` shows which images the model takes, where its first
    layer does not tell.
    """
    check_model(model)
    traced = trace(model, example)
    keep_training(traced, unwrapped(model))
    replace_relus(traced, threshold)
    for module in traced.modules():
        if isinstance(module, QCFS) or type(module) is nn.Module:  # new here
            module.training = model.training
    count_timesteps(traced)
    if not any(neuron_nodes(traced)):
        raise PascalError(f"{type(model).__name__} has no ReLU to replace; expected at least one")
    set_levels(traced, levels)
    return traced


def replace_relus(traced: fx.GraphModule, threshold: float = 8.0) -> dict[str, str]:
    """Every call of a ReLU becomes a QCFS of its own; the paths of these, with the name of the call."""
    dtype, device = dtype_and_device(traced)
    taken: dict[str, str] = {}
    for node in [node for node in traced.graph.nodes if _is_relu(node, module_of(traced, node))]:
        qcfs, name = QCFS(threshold=threshold).to(device, dtype), call_name(node, module_of(traced, node))
        qcfs.clip = _clip(node, module_of(traced, node))
        taken[_replace(traced, node, qcfs, set(taken))] = name
    activate_before_pooling(traced)
    traced.graph.lint()
    traced.recompile()
    return taken


def keep_training(traced: fx.GraphModule, model: nn.Module) -> None:
    """A network whose training differs from its inference refuses to be trained, by the names of what would be lost."""
    probe = torch.randn(traced.meta["probe"], generator=torch.Generator().manual_seed(0))
    dtype, device = dtype_and_device(model)
    twin = duplicate(model).train()
    try:
        lost = lost_in_training(traced, record(twin, probe.to(device, dtype), traced.meta["inert"]))
    except PascalError as error:
        lost = (f"what cannot be traced ({error})",)
    if lost and model.training:
        raise PascalError(f"{type(model).__name__}: {refusal(lost)} and quantise it for inference alone")
    if lost:
        images = next(iter(traced.graph.find_nodes(op="placeholder")))
        path = free_path(traced, "inference_only")
        traced.add_submodule(path, InferenceOnly(lost))
        with traced.graph.inserting_after(images):
            held = traced.graph.call_module(path, (images,))
        images.replace_all_uses_with(held, delete_user_cb=lambda user: user is not held)


def activate_before_pooling(traced: fx.GraphModule) -> None:
    """relu(max(z)) = max(relu(z)): a QCFS behind a maximum of currents moves in front of it, where it is exact."""
    for node, _ in list(neuron_nodes(traced)):
        source = node.args[0]
        while isinstance(source, fx.Node) and _commutes(traced, source, node):
            before = source.all_input_nodes[0]
            node.replace_all_uses_with(source)
            with traced.graph.inserting_before(source):
                moved = traced.graph.call_module(str(node.target), (before,))
            moved.meta = dict(node.meta)
            source.replace_input_with(before, moved)
            traced.graph.erase_node(node)
            node, source = moved, before


def _commutes(traced: fx.GraphModule, source: fx.Node, neuron: fx.Node) -> bool:
    module = module_of(traced, source)
    single = list(source.users) == [neuron] and len(source.all_input_nodes) == 1
    return single and property_of(source, module) == MAXIMUM and operation_of(source, module).why_not({}) is None  # type: ignore[union-attr]


def _is_relu(node: fx.Node, module: nn.Module | None) -> bool:
    if isinstance(module, nn.Hardtanh):  # ReLU6 is one; of the others, those that start at zero
        return module.min_val == 0
    if isinstance(module, nn.Threshold):
        return (module.threshold, module.value) == (0, 0)
    if node.target is F.threshold:
        return argument(node, 1, "threshold") == argument(node, 2, "value") == 0
    if node.target in ("maximum", torch.maximum):
        operands = argument(node, 0, "input"), argument(node, 1, "other")
        return sum(_is_zero(operand) for operand in operands) == 1
    if node.target in _CLAMPS:
        return _is_zero(argument(node, 1, "min", node.kwargs.get("min_val")))
    return isinstance(module, nn.ReLU) or node.target in _FUNCTIONS or (node.op, node.target) == ("call_method", "relu")


def _clip(node: fx.Node, module: nn.Module | None) -> float | None:
    """Where the activation that is replaced stops to grow: 6 of a ReLU6."""
    if isinstance(module, nn.Hardtanh):
        return float(module.max_val)
    if node.target is F.relu6:
        return 6.0
    high = argument(node, 2, "max", node.kwargs.get("max_val")) if node.target in _CLAMPS else None
    return float(high) if isinstance(high, int | float) else None


def _is_zero(operand: Any) -> bool:
    """Whether an argument is the constant zero: a number, or a tensor that no training changes."""
    if isinstance(operand, fx.Node):
        return operand.meta.get("zero") is True
    return isinstance(operand, int | float) and operand == 0


def _replace(traced: fx.GraphModule, node: fx.Node, qcfs: QCFS, taken: set[str]) -> str:
    if node.op == "call_module" and node.target not in taken:
        path = str(node.target)
    else:
        owner = path_of(node) if node.op == "call_module" else ".".join(filter(None, (scope_of(node), "relu")))
        path = free_path(traced, owner)
    traced.add_submodule(path, qcfs)
    call_module_instead(traced, node, path)
    return path
