"""Linear interpolation on integers: its weights are fractions, so that some multiple of them is whole."""

import math
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from pascal.errors import PascalError
from pascal.graph.arguments import named_arguments

_NAMES = ("input", "size", "scale_factor", "mode", "align_corners", "recompute_scale_factor", "antialias")
_LARGEST_DIVISOR = 4096
_WHOLE = 1e-9


def interpolates(name: str) -> bool:
    """Whether a call of this name takes means of neighbours."""
    return name in ("interpolate", "Upsample", "UpsamplingBilinear2d", "upsample", "upsample_bilinear")


def mode_of(node: fx.Node, module: nn.Module | None) -> str:
    """By which rule it does."""
    return str(getattr(module, "mode", None) or named_arguments(node, _NAMES).get("mode", "nearest"))


def interpolation_divisor(node: fx.Node, module: nn.Module | None, before: tuple[int, ...], values: Any) -> int:
    """What all weights of an interpolation are multiplied by to be whole; `before` is the shape of one image."""
    options = _options(node, module, values)
    mode, places = mode_of(node, module), len(before) - 1
    if mode not in ("linear", "bilinear", "trilinear") or options.get("antialias"):
        raise PascalError(f"{node.name}: {mode} interpolation has no whole weights; use mode='bilinear', or 'counts'")
    corners = options.get("align_corners")
    divisors = []
    for axis, length in enumerate(before[1:]):
        size, scale = (_along(options.get(name), axis, places) for name in ("size", "scale_factor"))
        points = torch.eye(length, dtype=torch.float64)[:, None]
        recompute = options.get("recompute_scale_factor") if size is None else None
        weights = F.interpolate(points, size, scale, "linear", corners, recompute)
        divisors.append(_divisor(node, weights))
    return math.prod(divisors)


def _options(node: fx.Node, module: nn.Module | None, values: Any) -> dict[str, Any]:
    if module is not None:
        return {name: getattr(module, name, None) for name in _NAMES[1:]}
    options = {key: value for key, value in named_arguments(node, _NAMES).items() if key != "input"}
    return fx.map_arg(options, values.__getitem__)


def _along(value: Any, axis: int, places: int) -> Any:
    return value[axis] if isinstance(value, tuple | list) and len(value) == places else value


def _divisor(node: fx.Node, weights: torch.Tensor) -> int:
    for divisor in range(1, _LARGEST_DIVISOR + 1):
        scaled = weights * divisor
        if bool(((scaled - scaled.round()).abs() < _WHOLE * divisor).all()):
            return divisor
    raise PascalError(
        f"{node.name}: no multiple up to {_LARGEST_DIVISOR} of the interpolation's weights is whole; choose sizes "
        "whose ratio is a simple fraction, or engine='counts'"
    )
