"""What one call does to the error bound of a sum: the call with every number in it made positive, and how many
roundings it adds on the way of any term."""

from math import ceil, prod
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils._pytree import tree_leaves, tree_map_only

from pascal.graph.operations import LINEAR, WEIGHTED_MODULES, Operation, call_name, operation_of
from pascal.graph.trace import call, module_of

# Besides the terms of its sum, what a call may round: the step that joins a weight, the share of a constant among the
# timesteps, the product itself, a bias; and of a batch norm folded into a weight its root, quotient and products.
CALL, _BATCH_NORM = 4, 10
_SUMS = ("add", "sub", "subtract", "rsub", "add_into", "iadd", "isub")
_SIGNS = ("neg", "negative", "positive", "pos")
_SCALES = ("other", "alpha", "beta", "value", "weight", "bias", "tensor2")  # arguments whose sign is dropped
_CUBIC = 1.375  # Σ|w| of a cubic interpolation along one axis, at most: half-way between two points


def positive_sum(graph: fx.GraphModule, node: fx.Node, args: Any, kwargs: Any) -> tuple[Any, int]:
    """(Σ|w|·|x| + |b|, roundings) of a call; `args` and `kwargs` hold magnitudes where activations stand."""
    module = module_of(graph, node)
    if isinstance(module, _BatchNorm):
        return _batch_norm(module, args[0]), _BATCH_NORM
    if isinstance(module, WEIGHTED_MODULES):
        return _positive(module, args[0]), _fan_in(module) + CALL
    row, name = operation_of(node, module), call_name(node, module)
    assert row is not None
    args, kwargs = _magnitudes(row, args, kwargs)
    if row.kind != LINEAR or name in _SIGNS:  # moves, maxima and signs round nothing
        return (args[0] if name in _SIGNS else call(graph, node, args, kwargs)), 0
    given = {**dict(zip(row.arguments, args, strict=False)), **kwargs}
    spelled = _spelled_out(name, given)
    if spelled is not None:
        return spelled, CALL
    result = call(graph, node, args, kwargs)
    if "cubic" in str(getattr(module, "mode", None) or given.get("mode")):
        return _cubic(given.get("input", args[0]), result), CALL + 4**result.ndim
    given["rest"] = args[len(row.arguments) :]
    return result, CALL + _terms(module, name, row, given, result)


def _magnitudes(row: Operation, args: Any, kwargs: Any) -> Any:
    """The arguments that add up or multiply, without their signs; a mean is subtracted."""
    signed = {*row.terms, *row.factors, *_SCALES}

    def magnitude(name: str, value: Any) -> Any:
        if name not in signed:
            return value
        positive = tree_map_only((Tensor, int, float), lambda x: x if isinstance(x, bool) else abs(x), value)
        return -positive if name == "running_mean" else positive

    names = (*row.arguments, *["rest"] * len(args))
    of_args = tuple(magnitude(name, value) for name, value in zip(names, args, strict=False))
    return of_args, {name: magnitude(name, value) for name, value in kwargs.items()}


def _spelled_out(name: str, given: dict[str, Any]) -> Any:
    """Sums that have a minus sign in them."""
    if name in _SUMS:
        return given["input"] + given.get("alpha", 1) * given["other"]
    if name == "lerp":  # a + w·(b − a)
        return given["input"] + given["weight"] * (given["input"] + given["end"])
    return None


def _positive(module: Any, magnitude: Tensor) -> Tensor:
    """The layer with |w| and |b|."""
    numbers = {name: number.abs() for name, number in module.named_parameters()}
    return torch.func.functional_call(module, numbers, (magnitude,))


def _fan_in(module: Any) -> int:
    outputs = module.weight.shape[1 if getattr(module, "transposed", False) else 0]
    return module.weight.numel() // outputs


def _batch_norm(norm: _BatchNorm, magnitude: Tensor) -> Tensor:
    """(|x| + |μ|)·|γ|/σ + |β|."""
    shape = (1, -1, *[1] * (magnitude.ndim - 2))
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = (norm.running_var + norm.eps).rsqrt()
    scale = scale if norm.weight is None else scale * norm.weight.abs()
    shift = 0.0 if norm.bias is None else norm.bias.abs().view(shape)
    return (magnitude + norm.running_mean.abs().view(shape)) * scale.view(shape) + shift


def _cubic(source: Tensor, result: Tensor) -> Tensor:
    """Cubic weights have signs: no value exceeds the largest of its map by more than Σ|w|."""
    places = tuple(range(2, source.ndim))
    return (_CUBIC ** len(places) * source.amax(places, keepdim=True)).expand_as(result)


def _terms(module: nn.Module | None, name: str, row: Operation, given: dict[str, Any], result: Tensor) -> int:
    """An upper bound of how many elements one result is made of."""
    averages = any(part in name.lower() for part in ("mean", "sum", "avg", "interp", "upsamp", "grid_sample", "fold"))
    if row.factors or not averages or name == "cumsum":
        return max(each[:1].numel() for each in tree_leaves(given) if isinstance(each, Tensor))
    return max(8, _window(module, name, given, result))  # eight corners of a linear interpolation


def _window(module: nn.Module | None, name: str, given: dict[str, Any], result: Tensor) -> int:
    source: Tensor = given["input"]
    kernel: Any = getattr(module, "kernel_size", None) or given.get("kernel_size")
    if kernel is not None:
        return prod(kernel) if isinstance(kernel, tuple | list) else int(kernel) ** max(source.ndim - 2, 2)
    if source.ndim != result.ndim:
        return ceil(source.numel() / max(result.numel(), 1))
    sizes = zip(source.shape[1:], result.shape[1:], strict=True)
    return prod(ceil(before / after) + bool(before % after) for before, after in sizes)
