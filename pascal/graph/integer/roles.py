"""What each call means to integers: which calls add up, which only move values, which divide."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

from torch import fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.pooling import _AdaptiveAvgPoolNd, _AvgPoolNd

from pascal.errors import PascalError
from pascal.graph.arguments import named_arguments
from pascal.graph.integer.interpolation import interpolates, interpolation_divisor, mode_of
from pascal.graph.operations import MAXIMUM, STRUCTURAL, WEIGHTED_MODULES, call_name, property_of
from pascal.graph.timesteps import Edges
from pascal.graph.trace import module_of, path_of
from pascal.neurons import QCFS

IMAGE, NEURON, WEIGHTED, SUM, SCALE, POOL, MOVE = "image", "neuron", "weighted", "sum", "scale", "pool", "move"

_BY_NAME = {
    **dict.fromkeys(("add", "sub", "subtract"), SUM),
    **dict.fromkeys(("mul", "multiply", "div", "divide", "true_divide", "truediv", "neg", "negative"), SCALE),
    **dict.fromkeys(("fold", "Fold"), POOL),
    **dict.fromkeys(("mean", "sum"), POOL),
    **{f"avg_pool{n}d": POOL for n in (1, 2, 3)},
    **{f"adaptive_avg_pool{n}d": POOL for n in (1, 2, 3)},
}


def roles_of(graph: fx.GraphModule, edges: Edges) -> dict[fx.Node, str]:
    """The role of every call that carries activations; refuses what integers cannot do."""
    return {node: _role(node, module_of(graph, node)) for node in edges}


def _role(node: fx.Node, module: nn.Module | None) -> str:
    if node.op == "placeholder":
        return IMAGE
    if isinstance(module, QCFS):
        return NEURON
    if isinstance(module, (_BatchNorm, *WEIGHTED_MODULES)):
        return WEIGHTED
    kind = property_of(node, module)
    if kind in (STRUCTURAL, MAXIMUM):
        return MAXIMUM if kind == MAXIMUM else MOVE
    name = call_name(node, module)
    averages = isinstance(module, (_AvgPoolNd, _AdaptiveAvgPoolNd)) or interpolates(name)
    found = POOL if averages else _BY_NAME.get(name)
    if found is None:
        raise PascalError(
            f"{path_of(node)} ({name}): no integer counterpart; use convolutions, fully connected layers, sums, "
            "pooling and upsampling, or engine='counts'"
        )
    return found


def divisor_of(
    node: fx.Node,
    module: nn.Module | None,
    before: tuple[int, ...],
    after: tuple[int, ...],
    values: Mapping[fx.Node, Any],
) -> int:
    """The smallest factor that makes every mean of this pooling whole: the common multiple of its window sizes."""
    name = call_name(node, module).lower()
    if name in ("sum", "fold"):
        return 1
    if name == "mean":
        return math.prod(before) // math.prod(after)
    if interpolates(call_name(node, module)) and mode_of(node, module) != "area":
        return interpolation_divisor(node, module, before, values)
    options = fx.map_arg(_options(node, module), values.__getitem__)  # a window may be a size of the images
    if options.get("divisor_override"):
        return int(options["divisor_override"])
    spatial = 3 if "3d" in name else 2 if "2d" in name else 1
    spatial = len(before) - 1 if interpolates(call_name(node, module)) else spatial
    sizes = list(zip(before[-spatial:], after[-spatial:], strict=True))
    if "adaptive" in name or interpolates(call_name(node, module)):
        lengths = [_adaptive_lengths(*size) for size in sizes]
    else:
        lengths = [_lengths(*size, axis, spatial, options) for axis, size in enumerate(sizes)]
    return math.lcm(*(math.prod(window) for window in itertools.product(*lengths)))


def _options(node: fx.Node, module: nn.Module | None) -> dict[str, Any]:
    names = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
    if module is not None:
        return {name: getattr(module, name, None) for name in names}
    return named_arguments(node, ("input", *names))


def _adaptive_lengths(before: int, after: int) -> set[int]:
    return {-((n + 1) * -before // after) - n * before // after for n in range(after)}


def _lengths(before: int, after: int, axis: int, spatial: int, options: dict[str, Any]) -> set[int]:
    """Lengths of the windows along one axis, borders included."""
    kernel = _along(options["kernel_size"], axis)
    stride = _along(options.get("stride") or kernel, axis)
    padding = _along(options.get("padding") or 0, axis)
    starts = [n * stride - padding for n in range(after)]
    if options.get("count_include_pad", True):
        return {min(start + kernel, before + padding) - start for start in starts}
    return {min(start + kernel, before) - max(start, 0) for start in starts}


def _along(value: Any, axis: int) -> int:
    return int(value[axis] if isinstance(value, tuple | list) and len(value) > 1 else _first(value))


def _first(value: Any) -> int:
    return value[0] if isinstance(value, tuple | list) else value
