"""What the theorems cover: every operation that conversion knows, by the property that makes it exact.

- `STRUCTURAL` moves or drops elements, so a train stays earliest-first.
- `LINEAR` commutes with the sum over time (Theorem 3.3); constants that it adds are shared among the timesteps.
- `MAXIMUM` commutes with the sum over time on earliest-first trains only.
- `SHAPE` reads sizes, not values.
"""

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.pooling import _AdaptiveAvgPoolNd, _AdaptiveMaxPoolNd, _AvgPoolNd, _MaxPoolNd

from pascal.graph.sums import add_into

STRUCTURAL, LINEAR, MAXIMUM, SHAPE, NEURON = "structural", "linear", "maximum", "shape", "neuron"

WEIGHTED_MODULES = (_ConvNd, nn.Linear)

_MODULES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    ((_ConvNd, nn.Linear, _BatchNorm, _AvgPoolNd, _AdaptiveAvgPoolNd), LINEAR),
    ((nn.Upsample, nn.ReflectionPad1d, nn.ReflectionPad2d, nn.ReplicationPad1d, nn.ReplicationPad2d), LINEAR),
    ((_MaxPoolNd, _AdaptiveMaxPoolNd), MAXIMUM),
    ((_DropoutNd, nn.Identity, nn.Flatten, nn.Unflatten, nn.ZeroPad1d, nn.ZeroPad2d, nn.ZeroPad3d), STRUCTURAL),
    ((nn.PixelShuffle, nn.PixelUnshuffle, nn.ChannelShuffle), STRUCTURAL),
)

_FUNCTIONS: dict[str, tuple[Callable[..., Any], ...]] = {
    STRUCTURAL: (
        torch.flatten, torch.reshape, torch.permute, torch.transpose, torch.squeeze, torch.unsqueeze, torch.cat,
        torch.concat, torch.stack, torch.chunk, torch.split, torch.unbind, torch.narrow, torch.clone, torch.flip,
        torch.roll, torch.movedim, torch.swapaxes, torch.channel_shuffle, F.channel_shuffle, F.pixel_shuffle,
        F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.pad, operator.getitem,
    ),
    LINEAR: (
        F.conv1d, F.conv2d, F.conv3d, F.linear, F.batch_norm, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d,
        F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d, F.interpolate, torch.mean, torch.sum,
        torch.add, torch.sub, torch.neg, torch.mul, torch.div, torch.matmul, operator.add,
        operator.sub, operator.neg, operator.mul, operator.truediv, operator.matmul, add_into,
    ),
    MAXIMUM: (
        F.max_pool1d, F.max_pool2d, F.max_pool3d, F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d,
    ),
    SHAPE: (getattr, len, torch.numel),
}  # fmt: skip

_METHODS: dict[str, tuple[str, ...]] = {
    STRUCTURAL: (
        "view", "reshape", "flatten", "permute", "transpose", "contiguous", "squeeze", "unsqueeze", "chunk", "split",
        "unbind", "narrow", "clone", "flip", "roll", "movedim", "swapaxes", "detach", "unflatten",
    ),
    LINEAR: ("mean", "sum", "add", "sub", "neg", "mul", "div", "matmul"),
    SHAPE: ("size", "dim", "numel", "new_zeros"),
}  # fmt: skip

_REMEDIES: tuple[tuple[str, str], ...] = (
    ("relu", "call pascal.quantize(model) first, so that it becomes a QCFS"),
    ("hardtanh", "replace it by a ReLU, call pascal.quantize(model) and fine-tune"),
    ("softmax", "apply it to the logits, outside the network"),
    ("norm", "use batch norm, whose statistics are constants at inference"),
    ("attention", "products of activations are not linear; only convolutional and fully connected parts convert"),
)
_REMEDY = "replace it by a ReLU, call pascal.quantize(model) and fine-tune"


def property_of(node: fx.Node, module: nn.Module | None) -> str | None:
    """Which property makes this call exact; None where the theorems do not cover it."""
    if node.op == "call_module":
        return next((kind for types, kind in _MODULES if isinstance(module, types)), None)
    table: dict[str, Any] = _METHODS if node.op == "call_method" else _FUNCTIONS
    found = next((kind for kind, calls in table.items() if node.target in calls), None)
    # torchvision wraps its stochastic depth, which is the identity at inference, as one function.
    return STRUCTURAL if found is None and _call_name(node) == "stochastic_depth" else found


def remedy_for(name: str) -> str:
    """What a user can do about an operation that does not convert."""
    return next((remedy for part, remedy in _REMEDIES if part in name.lower()), _REMEDY)


def call_name(node: fx.Node, module: nn.Module | None) -> str:
    """The name of the called module class, function or method, for messages."""
    return type(module).__name__ if module is not None else _call_name(node)


def _call_name(node: fx.Node) -> str:
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
