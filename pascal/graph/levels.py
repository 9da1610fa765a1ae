"""Levels of a network's QCFS layers, in forward order."""

from torch import fx, nn

from pascal.graph.trace import neuron_nodes, trace
from pascal.graph.tracing import order_of_calls
from pascal.inference import check_model
from pascal.neurons import QCFS
from pascal.neurons.levels import Levels, apply_levels


def qcfs_layers(ann: nn.Module) -> dict[str, QCFS]:
    """The QCFS modules by path, in the order in which they are first called."""
    check_model(ann, "ann")
    paths = None if isinstance(ann, fx.GraphModule) else order_of_calls(ann, QCFS)
    if paths is None:
        traced = ann if isinstance(ann, fx.GraphModule) else trace(ann)
        paths = list(dict.fromkeys(str(node.target) for node, _ in neuron_nodes(traced)))
    return {path: ann.get_submodule(path) for path in paths}  # type: ignore[misc]


def get_levels(ann: nn.Module) -> dict[str, int]:
    """Levels by layer, in forward order."""
    return {path: layer.levels for path, layer in qcfs_layers(ann).items()}


def set_levels(ann: nn.Module, levels: Levels) -> None:
    """Levels for all layers (a number), for each in forward order (a list), or for some by name (a mapping)."""
    apply_levels(qcfs_layers(ann), levels)
