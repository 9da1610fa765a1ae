"""Settings under which a call keeps its property, and what to do about calls that have none."""

from collections.abc import Callable
from typing import Any

from torch import fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.padding import _CircularPadNd, _ConstantPadNd, _ReflectionPadNd, _ReplicationPadNd
from torch.nn.modules.pooling import _AdaptiveAvgPoolNd, _AdaptiveMaxPoolNd, _AvgPoolNd, _MaxPoolNd

from pascal.graph.tracing import InferenceOnly

SIZES = ("shape", "ndim", "device", "dtype", "is_cuda", "layout", "requires_grad")
WEIGHTED_MODULES = (_ConvNd, nn.Linear)

_MODULES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((_ConvNd, nn.Linear, _BatchNorm, _AvgPoolNd, _AdaptiveAvgPoolNd, nn.Fold), "linear"),
    ((_MaxPoolNd, _AdaptiveMaxPoolNd), "maximum"),
    ((_DropoutNd, nn.Identity, nn.Flatten, nn.Unflatten, nn.Unfold, InferenceOnly), "structural"),
    ((nn.PixelShuffle, nn.PixelUnshuffle, nn.ChannelShuffle), "structural"),
    ((_ReflectionPadNd, _ReplicationPadNd, _CircularPadNd), "structural"),
)


def module_kind(module: nn.Module | None) -> str | None:
    """The property of a module's call."""
    if isinstance(module, nn.Upsample):
        return "structural" if "nearest" in module.mode else "linear"
    if isinstance(module, _ConstantPadNd):
        return "structural" if module.value == 0 else None
    return next((kind for types, kind in _MODULES if isinstance(module, types)), None)


def module_check(module: nn.Module | None) -> Callable[[dict[str, Any]], str | None]:
    """What a module's own settings say against it."""
    if isinstance(module, _BatchNorm) and module.running_mean is None:
        return lambda _: "batch norm without running statistics depends on the batch; set track_running_stats=True"
    if getattr(module, "return_indices", False):
        return lambda _: _INDICES
    return nothing


def copies_neighbours(node: fx.Node) -> bool:
    """Whether an interpolation only copies values."""
    mode = node.args[3] if len(node.args) > 3 else node.kwargs.get("mode", "nearest")
    return "nearest" in str(mode)


_INDICES = "indices of maxima have no spiking counterpart; set return_indices=False"


def nothing(bound: dict[str, Any]) -> str | None:
    """No setting changes the property."""
    return None


def pad(bound: dict[str, Any]) -> str | None:
    """Zeros are silent spikes; the other modes copy values."""
    constant = bound.get("mode", "constant") == "constant"
    return "pad with zeros: another value is not a spike" if constant and bound.get("value") not in (None, 0) else None


def dropout(bound: dict[str, Any]) -> str | None:
    """Off at inference, or random."""
    off = bound.get("training", True) is False
    return None if off else "dropout that stays on at inference is random; pass training=self.training"


def exact_division(bound: dict[str, Any]) -> str | None:
    """A rounded quotient is not linear."""
    mode = bound.get("rounding_mode")
    return None if mode is None else f"rounding_mode={mode!r} is not linear; divide without it"


def same_dtype(bound: dict[str, Any]) -> str | None:
    """A sum in another arithmetic rounds."""
    named = any(name in bound for name in ("dtype", "out"))
    return "sums in another dtype round; leave dtype out" if named and bound.get("dtype") is not None else None


def batch_norm(bound: dict[str, Any]) -> str | None:
    """Constants at inference."""
    running = bound.get("running_mean") is not None and not bound.get("training", False)
    return None if running else "batch norm in training mode depends on the batch; pass training=False"


def without_indices(bound: dict[str, Any]) -> str | None:
    """Maxima, not where they are."""
    return _INDICES if bound.get("return_indices") else None


def attribute(bound: dict[str, Any]) -> str | None:
    """Attributes other than sizes."""
    return "only shape, ndim, device and dtype can be read from an activation"


_LINEAR_ONLY = "it is not linear; use a ReLU and weights, call pascal.quantize(model) and fine-tune"
_ACTIVATION = "replace it by a ReLU, call pascal.quantize(model) and fine-tune"
_REMEDIES: tuple[tuple[str, str], ...] = (  # names, or parts of names that are longer than four letters
    ("softmax log_softmax argmax topk sort argsort", "apply it to the logits, outside the network"),
    ("relu relu_ relu6", "call pascal.quantize(model) first, so that it becomes a QCFS"),
    ("hardswish hardsigmoid silu gelu mish elu celu selu leaky prelu tanh sigmoid softplus", _ACTIVATION),
    ("clamp clip threshold hardtanh", "clamp at zero from below, so that pascal.quantize takes it for a ReLU"),
    ("layernorm groupnorm layer_norm group_norm instance normalize norm", "use batch norm, whose statistics are "
     "constants at inference"),
    ("lstm gru rnn lstmcell grucell rnncell", "its gates multiply activations with each other; use convolutions or "
     "fully connected layers with ReLUs between, over time too"),
    ("attention", "products of activations are not linear; only convolutional and fully connected parts convert"),
    ("max min median amin minimum", "use max pooling, torch.amax or torch.maximum directly behind a QCFS"),
    ("to half bfloat16 float double int long type", "a cast rounds; keep one floating-point dtype"),
    ("floordiv floor_divide floor round ceil trunc mod remainder fmod", "rounding is not linear; leave it out, or let "
     "a QCFS quantise"),
    ("gt lt ge le eq ne item nonzero tolist", "decisions that depend on the data do not convert"),
    ("abs pow square sqrt rsqrt exp log reciprocal var std", _LINEAR_ONLY),
    ("constantpad", "pad with zeros, or by reflection, replication or circularly"),
)  # fmt: skip


def remedy_for(name: str) -> str:
    """What a user can do about an operation that does not convert."""
    lowered = name.lower()
    for names, remedy in _REMEDIES:
        if any(part == lowered or (len(part) > 4 and part in lowered) for part in names.split()):
            return remedy
    return "replace it by convolutions, fully connected layers, sums or pooling, with ReLUs between"
