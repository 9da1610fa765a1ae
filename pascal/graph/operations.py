"""What the theorems cover: one row per operation, with the property that makes it exact and where activations enter.

- `STRUCTURAL` moves, copies or drops elements, so a train stays earliest-first.
- `LINEAR` commutes with the sum over time (Theorem 3.3).
- `MAXIMUM` commutes with the sum over time on earliest-first trains of one step only.
- `SHAPE` reads sizes, not values.

`terms` are arguments that add up: activations may stand there, and constants there are shared among the timesteps.
Of `factors` one is an activation and the others are constants. All other arguments are settings.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F

from pascal.graph import settings as check
from pascal.graph.settings import WEIGHTED_MODULES
from pascal.graph.sums import add_into, add_scaled
from pascal.graph.tracing import expect, put
from pascal.graph.tracing.inplace import copied

__all__ = ["LINEAR", "MAXIMUM", "SHAPE", "STRUCTURAL", "WEIGHTED_MODULES", "Operation", "call_name", "operation_of"]

STRUCTURAL, LINEAR, MAXIMUM, SHAPE, NEURON = "structural", "linear", "maximum", "shape", "neuron"


@dataclass(frozen=True)
class Operation:
    """One row: how the call's arguments are named, in order, and what each of them is to the theorems."""

    kind: str
    arguments: tuple[str, ...]
    terms: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    why_not: Callable[[dict[str, Any]], str | None] = check.nothing
    for_its_shape: bool = False  # the other arguments may be activations: only their shapes are read

    def bind(self, node: fx.Node) -> dict[str, Any]:
        """The arguments of a call by name; what is left over under `rest`."""
        given = dict(zip(self.arguments, node.args, strict=False))
        rest = tuple(node.args[len(self.arguments) :])
        named = {_SYNONYMS.get(name, name): value for name, value in node.kwargs.items()}
        return {**given, **named, **({"rest": rest} if rest else {})}


_SYNONYMS = {"axis": "dim", "keepdims": "keepdim", "self": "input", "tensor": "input"}

_ROWS: tuple[tuple[str, str, str, str, str, Any], ...] = (
    # kind, names, arguments, terms, factors, check
    (STRUCTURAL, "flatten", "input start_dim end_dim", "input", "", None),
    (STRUCTURAL, "reshape view permute expand repeat tile broadcast_to", "input shape", "input", "", None),
    (STRUCTURAL, "transpose swapaxes swapdims", "input dim0 dim1", "input", "", None),
    (STRUCTURAL, "squeeze unsqueeze unbind", "input dim", "input", "", None),
    (STRUCTURAL, "chunk tensor_split split", "input split_size_or_sections dim", "input", "", None),
    (STRUCTURAL, "contiguous clone detach ravel t adjoint", "input memory_format", "input", "", None),
    (STRUCTURAL, "narrow select index_select unflatten unfold gather take_along_dim repeat_interleave",
     "input dim index length", "input", "", None),
    (STRUCTURAL, "flip fliplr flipud roll rot90 movedim moveaxis triu tril diagonal", "input a b c", "input", "", None),
    (STRUCTURAL, "channel_shuffle pixel_shuffle pixel_unshuffle", "input groups", "input", "", None),
    (STRUCTURAL, "dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout", "input p training inplace",
     "input", "", check.dropout),
    (STRUCTURAL, "pad", "input pad mode value", "input", "", check.pad),
    (STRUCTURAL, "getitem __getitem__", "input index", "input", "", None),
    (STRUCTURAL, "cat concat concatenate stack hstack vstack dstack column_stack", "tensors dim", "tensors", "", None),
    (STRUCTURAL, "where", "condition input other", "input other", "", None),
    (STRUCTURAL, "masked_fill", "input mask value", "input value", "", None),
    (LINEAR, "add sub subtract", "input other alpha", "input other", "", None),
    (LINEAR, "rsub", "input other alpha", "input other", "", None),
    (LINEAR, "neg negative positive pos", "input", "input", "", None),
    (LINEAR, "mul multiply matmul mm bmm mv", "input other", "", "input other", None),
    (LINEAR, "div divide true_divide truediv", "input other rounding_mode", "input", "", check.exact_division),
    (LINEAR, "tensordot", "a b dims", "", "a b", None),
    (LINEAR, "einsum", "equation", "", "rest", None),
    (LINEAR, "lerp", "input end weight", "input end", "", None),
    (LINEAR, "addcmul", "input tensor1 tensor2 value", "input", "tensor1 tensor2", None),
    (LINEAR, "addcdiv", "input tensor1 tensor2 value", "input tensor1", "", None),
    (LINEAR, "addmm addbmm baddbmm addmv", "input mat1 mat2 beta alpha", "input", "mat1 mat2", None),
    (LINEAR, "mean sum", "input dim keepdim dtype", "input", "", check.same_dtype),
    (LINEAR, "cumsum", "input dim dtype", "input", "", check.same_dtype),
    (LINEAR, "conv1d conv2d conv3d", "input weight bias stride padding dilation groups", "input bias", "", None),
    (LINEAR, "conv_transpose1d conv_transpose2d conv_transpose3d",
     "input weight bias stride padding output_padding groups dilation", "input bias", "", None),
    (LINEAR, "linear", "input weight bias", "input bias", "", None),
    (LINEAR, "batch_norm", "input running_mean running_var weight bias training momentum eps",
     "input running_mean bias", "", check.batch_norm),
    (LINEAR, "avg_pool1d avg_pool2d avg_pool3d",
     "input kernel_size stride padding ceil_mode count_include_pad divisor_override", "input", "", None),
    (LINEAR, "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", "input output_size", "input", "", None),
    (LINEAR, "interpolate upsample", "input size scale_factor mode", "input", "", None),
    (LINEAR, "upsample_bilinear", "input size scale_factor", "input", "", None),
    (LINEAR, "grid_sample", "input grid mode padding_mode align_corners", "input", "", None),
    (LINEAR, "fold", "input output_size kernel_size dilation padding stride", "input", "", None),
    (MAXIMUM, "max_pool1d max_pool2d max_pool3d",
     "input kernel_size stride padding dilation ceil_mode return_indices", "input", "", check.without_indices),
    (MAXIMUM, "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", "input output_size return_indices",
     "input", "", check.without_indices),
    (MAXIMUM, "amax", "input dim keepdim", "input", "", None),
    (MAXIMUM, "maximum", "input other", "input other", "", None),
    (SHAPE, "size dim ndimension numel nelement new_zeros new_ones new_full zeros_like ones_like full_like empty_like "
            "new_empty is_floating_point is_complex stride is_contiguous element_size", "input a b c d", "", "", None),
)  # fmt: skip
_HOMES = (torch, F, operator, Tensor)


def _tables() -> tuple[dict[Any, Operation], dict[str, Operation]]:
    functions: dict[Any, Operation] = {}
    methods: dict[str, Operation] = {}
    for kind, names, arguments, terms, factors, why_not in _ROWS:
        named, added, multiplied = (tuple(text.split()) for text in (arguments, terms, factors))
        row = Operation(kind, named, added, multiplied, why_not or check.nothing)
        for name in names.split():
            methods.update({name: row} if hasattr(Tensor, name) else {})
            functions.update({getattr(home, name): row for home in _HOMES if hasattr(home, name)})
    first = ("input",)
    functions[F.unfold] = functions[F.pixel_shuffle]
    functions[add_into] = functions[add_scaled] = functions[torch.add]
    functions[put] = Operation(STRUCTURAL, ("input", "index", "value"), ("input", "value"))
    functions[expect] = Operation(STRUCTURAL, ("input", "size", "expected"), first)
    functions[len] = functions[torch.numel]
    like = Operation(STRUCTURAL, ("input", "other"), first, for_its_shape=True)
    methods.update(dict.fromkeys(("view_as", "reshape_as", "expand_as"), like))
    functions[copied] = Operation(STRUCTURAL, ("base", "input"), first, for_its_shape=True)
    return functions, methods


_FUNCTIONS, _METHODS = _tables()
_SHAPES = Operation(SHAPE, ("input", "name"))
_TURNED = Operation(STRUCTURAL, ("input", "name"), ("input",))
_COPIES = Operation(STRUCTURAL, ("input", "size", "scale_factor", "mode"), ("input",))
_UNKNOWN_ATTRIBUTE = Operation(STRUCTURAL, ("input", "name"), ("input",), why_not=check.attribute)
_INERT = Operation(STRUCTURAL, ("input",), ("input",))


def operation_of(node: fx.Node, module: nn.Module | None) -> Operation | None:
    """The row of a call; None where the theorems do not cover it."""
    if node.op == "call_module":
        kind = check.module_kind(module) if not node.meta.get("inert") else STRUCTURAL
        return None if kind is None else Operation(kind, ("input",), ("input",), why_not=check.module_check(module))
    if node.op == "call_method":
        return _METHODS.get(str(node.target))
    if node.target is getattr:
        name = node.args[1]
        known = {**dict.fromkeys(check.SIZES, _SHAPES), **dict.fromkeys(("T", "mT", "data"), _TURNED)}
        return known.get(name, _UNKNOWN_ATTRIBUTE)  # type: ignore[arg-type]
    found = _FUNCTIONS.get(node.target) if _is_hashable(node.target) else None
    if node.target in (F.interpolate, F.upsample) and check.copies_neighbours(node):
        return _COPIES
    # torchvision wraps its stochastic depth, which is the identity at inference, as one function.
    return _INERT if found is None and call_name(node, None) == "stochastic_depth" else found


def _is_hashable(target: Any) -> bool:
    return getattr(type(target), "__hash__", None) is not None


def property_of(node: fx.Node, module: nn.Module | None) -> str | None:
    """Which property makes this call exact; None where the theorems do not cover it."""
    row = operation_of(node, module)
    return None if row is None else row.kind


def terms_of(node: fx.Node, row: Operation) -> Iterator[tuple[str, Any]]:
    """The arguments that add up, by name."""
    bound = row.bind(node)
    yield from ((name, bound[name]) for name in row.terms if bound.get(name) is not None)


def call_name(node: fx.Node, module: nn.Module | None) -> str:
    """The name of the called module class, function or method, for messages."""
    if module is not None:
        return type(module).__name__
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
