"""Any torch module → the same module with QCFS in the place of every ReLU."""

from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from pascal.errors import PascalError
from pascal.graph.images import dtype_and_device
from pascal.graph.levels import set_levels
from pascal.graph.timesteps import count_timesteps
from pascal.graph.trace import call_module_instead, free_path, module_of, neuron_nodes, path_of, scope_of, trace
from pascal.neurons import QCFS
from pascal.neurons.levels import Levels

_FUNCTIONS = {F.relu, F.relu_, F.relu6, torch.relu, torch.relu_}
_METHODS = {"relu", "relu_"}


def quantize(model: nn.Module, levels: Levels = 8, threshold: float = 8.0) -> fx.GraphModule:
    """A copy of `model` in which every call of a ReLU or ReLU6 is a QCFS of its own, ready to be trained.

    Module calls keep their path; a second call of one shared ReLU becomes `path_2`. What cannot be converted later is
    refused now, with all offending calls in one error.
    """
    dtype, device = dtype_and_device(model)
    traced = trace(model)
    taken: set[str] = set()
    for node in [node for node in traced.graph.nodes if _is_relu(node, module_of(traced, node))]:
        _replace(traced, node, QCFS(threshold=threshold).to(device, dtype).train(model.training), taken)
    traced.graph.lint()
    traced.recompile()
    count_timesteps(traced)
    if not any(neuron_nodes(traced)):
        raise PascalError(f"{type(model).__name__} has no ReLU to replace; expected at least one")
    set_levels(traced, levels)
    return traced


def _is_relu(node: fx.Node, module: nn.Module | None) -> bool:
    if isinstance(module, nn.Hardtanh):  # ReLU6 is one; of the others, those that start at zero
        return module.min_val == 0
    if node.op == "call_method":
        return node.target in _METHODS or _clamps_at_zero(node)
    return isinstance(module, nn.ReLU) or node.target in _FUNCTIONS or _clamps_at_zero(node)


def _clamps_at_zero(node: fx.Node) -> bool:
    if node.target not in (
        "clamp",
        "clip",
        "clamp_min",
        "clamp_",
        "clamp_min_",
        torch.clamp,
        torch.clip,
        torch.clamp_min,
    ):
        return False
    low: Any = node.args[1] if len(node.args) > 1 else node.kwargs.get("min")
    return isinstance(low, int | float) and low == 0


def _replace(traced: fx.GraphModule, node: fx.Node, qcfs: QCFS, taken: set[str]) -> None:
    if node.op == "call_module" and node.target not in taken:
        path = str(node.target)
    else:
        owner = path_of(node) if node.op == "call_module" else ".".join(filter(None, (scope_of(node), "relu")))
        path = free_path(traced, owner)
    taken.add(path)
    traced.add_submodule(path, qcfs)
    call_module_instead(traced, node, path)
