"""Products with constant matrices as fully connected layers, however they are spelled; sums spelled out."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn

from pascal.graph.arguments import argument, named_arguments
from pascal.graph.operations import call_name


@dataclass(frozen=True)
class Contraction:
    """Axis `axis` of `source` meets the inputs of a weight (outputs, inputs), and its outputs take the axis' number.

    Axis i of the result is the axis with the number `order[i]`.
    """

    source: fx.Node
    axis: int
    weight: Tensor
    order: tuple[int, ...]
    bias: Tensor | None = None


Constant = Callable[[Any], Tensor | None]  # the value of an argument that does not depend on the images


def contraction_of(node: fx.Node, constant: Constant) -> Contraction | None:
    """The fully connected layer that a call is, if it is one."""
    if node.op not in ("call_function", "call_method"):
        return None
    name = call_name(node, None)
    if name in ("matmul", "mm"):
        return _product(argument(node, 0, "input"), argument(node, 1, "other", node.kwargs.get("mat2")), constant)
    if name == "addmm":
        return _added_product(node, constant)
    if name == "tensordot":
        return _tensordot(node, constant)
    return _einsum(node, constant) if name == "einsum" and len(node.args) == 3 else None


def as_linear(contraction: Contraction) -> nn.Linear:
    """The layer, with these numbers."""
    outputs, inputs = contraction.weight.shape
    linear = nn.Linear(inputs, outputs, contraction.bias is not None)
    linear.weight = nn.Parameter(contraction.weight.contiguous())
    if contraction.bias is not None:
        linear.bias = nn.Parameter(contraction.bias.contiguous())
    return linear.eval()


def _product(left: Any, right: Any, constant: Constant) -> Contraction | None:
    of_right, of_left = constant(right), constant(left)
    if of_right is not None and of_right.ndim == 2 and isinstance(left, fx.Node):
        axes = len(left.meta["shape"])
        return Contraction(left, axes - 1, of_right.mT, tuple(range(axes)))
    if of_left is not None and of_left.ndim == 2 and isinstance(right, fx.Node) and len(right.meta["shape"]) > 2:
        axes = len(right.meta["shape"])
        return Contraction(right, axes - 2, of_left, tuple(range(axes)))
    return None


def _added_product(node: fx.Node, constant: Constant) -> Contraction | None:
    given = named_arguments(node, ("input", "mat1", "mat2", "beta", "alpha"))
    bias, found = constant(given["input"]), _product(given["mat1"], given["mat2"], constant)
    if bias is None or found is None:
        return None
    bias = (given.get("beta", 1) * bias).expand(1, len(found.weight))[0] if bias.ndim < 2 or len(bias) == 1 else None
    scaled = given.get("alpha", 1) * found.weight
    return None if bias is None else Contraction(found.source, found.axis, scaled, found.order, bias)


def _tensordot(node: fx.Node, constant: Constant) -> Contraction | None:
    source, other = argument(node, 0, "a"), argument(node, 1, "b")
    weight, dims = constant(other), argument(node, 2, "dims", 2)
    if weight is None or weight.ndim != 2 or not isinstance(source, fx.Node) or isinstance(dims, int):
        return None
    mine, theirs = (tuple(each) for each in dims)
    if len(mine) != 1:
        return None
    axes = len(source.meta["shape"])
    return Contraction(source, mine[0] % axes, weight if theirs[0] % 2 else weight.mT, _last(axes, mine[0] % axes))


def _einsum(node: fx.Node, constant: Constant) -> Contraction | None:
    equation = str(node.args[0]).replace(" ", "")
    read, _, written = equation.partition("->")
    terms = read.split(",")
    operands = list(zip(terms, node.args[1:], strict=False))
    found = [(letters, value) for letters, operand in operands if (value := constant(operand)) is not None]
    sources = [(letters, operand) for letters, operand in operands if constant(operand) is None]
    if len(found) != 1 or len(sources) != 1 or not written or "." in equation:
        return None
    (inner, weight), (outer, source) = found[0], sources[0]
    if not isinstance(source, fx.Node):
        return None
    gone, new = [set(a) - set(b) for a, b in ((inner, written), (inner, outer))]
    if len(inner) != 2 or len(gone) != 1 or len(new) != 1 or set(written) != set(outer) - gone | new:
        return None
    if len(set(written)) != len(written) or len(set(outer)) != len(outer) or len(outer) != len(written):
        return None
    axis = outer.index(gone.pop())
    weight = weight if inner[1] == outer[axis] else weight.mT
    order = tuple(axis if letter in new else outer.index(letter) for letter in written)
    return Contraction(source, axis, weight, order)


def _last(axes: int, axis: int) -> tuple[int, ...]:
    """All axes, with one of them at the end."""
    return (*(each for each in range(axes) if each != axis), axis)


def spell_out(traced: fx.GraphModule) -> None:
    """Blends and sums of products as products and sums, which integers know."""
    for node in list(traced.graph.nodes):
        spelling = _SPELLINGS.get(call_name(node, None)) if node.op in ("call_function", "call_method") else None
        if spelling is not None:
            names, write = spelling
            with traced.graph.inserting_before(node):
                made = write(**named_arguments(node, names), call=traced.graph.call_function)
            made.meta = dict(node.meta)
            node.replace_all_uses_with(made)
            traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()


def _lerp(call: Any, input: Any, end: Any, weight: Any) -> fx.Node:
    rest = call(operator.sub, (1, weight))
    return call(operator.add, (call(operator.mul, (input, rest)), call(operator.mul, (end, weight))))


def _addcmul(call: Any, input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> fx.Node:
    product = call(operator.mul, (tensor1, tensor2))
    return call(torch.add, (input, product), {"alpha": value})


def _addcdiv(call: Any, input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> fx.Node:
    quotient = call(operator.truediv, (tensor1, tensor2))
    return call(torch.add, (input, quotient), {"alpha": value})


def _rsub(call: Any, input: Any, other: Any, alpha: Any = 1) -> fx.Node:
    return call(torch.sub, (other, input), {"alpha": alpha})


_SPELLINGS: dict[str, tuple[tuple[str, ...], Any]] = {
    "lerp": (("input", "end", "weight"), _lerp),
    "addcmul": (("input", "tensor1", "tensor2", "value"), _addcmul),
    "addcdiv": (("input", "tensor1", "tensor2", "value"), _addcdiv),
    "rsub": (("input", "other", "alpha"), _rsub),
}
