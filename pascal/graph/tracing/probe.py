"""The proof of a trace: module and graph run on the same images, with weights moved so that no branch is silent."""

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.func import functional_call
from torch.nn.modules.conv import _ConvNd
from torch.utils._pytree import tree_leaves

from pascal.errors import PascalError
from pascal.graph.images import dtype_and_device, duplicate

_SIZES = (32, 28, 64, 8, 16, 224, 96, 12, 20, 24, 10, 6, 14, 40, 48, 128, 299, 5, 7, 9, 11, 4, 56, 160, 256)
_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}  # of the largest value; both sides make the same calls
_MOVE = 0.05


def find_probe(model: nn.Module, example: Tensor | None) -> tuple[Tensor, nn.Module, Any] | None:
    """(images, the model with moved weights, what it returns for them); None where no shape is found to fit."""
    moved = _moved(model)
    for probe in _candidates(model) if example is None else (example[:2],):
        try:
            with torch.no_grad():
                return probe, moved, moved._call_impl(probe.clone())  # a GraphModule's own call prints what fails
        except Exception as error:  # whatever a network of another shape raises
            if example is not None:
                raise PascalError(f"example: {type(model).__name__} fails on {tuple(probe.shape)}: {error}") from error
    return None


def _moved(model: nn.Module) -> nn.Module:
    """A copy whose parameters differ a little, so that branches that start at zero take part in the proof."""
    moved = duplicate(model)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in moved.named_parameters():
            if parameter.is_floating_point() and not parameter.is_meta and not name.endswith("raw_threshold"):
                noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
                scale = _MOVE * (parameter.std() if parameter.numel() > 1 else parameter.abs()).nan_to_num(0.0) + 1e-2
                parameter.add_(noise.to(parameter.device) * scale)
    return moved


def _candidates(model: nn.Module) -> Iterator[Tensor]:
    dtype, device = dtype_and_device(model)
    for shape in _shapes(model):
        generator = torch.Generator().manual_seed(0)
        yield torch.randn(2, *shape, generator=generator, dtype=dtype).to(device)


def _shapes(model: nn.Module) -> Iterator[tuple[int, ...]]:
    """Shapes of one image that the first weighted layer could read."""
    if isinstance(model, fx.GraphModule) and "probe" in model.meta:
        yield model.meta["probe"][1:]  # it has been traced before
    weighted = [module for module in model.modules() if isinstance(module, _ConvNd | nn.Linear)]
    for module in weighted[:1]:
        if isinstance(module, nn.Linear):
            yield (module.in_features,)
            yield (5, module.in_features)
            yield from ((channels, size, size) for size in _SIZES for channels in (1, 3)
                        if channels * size * size == module.in_features)  # fmt: skip
        else:
            yield from ((module.in_channels, *[size] * len(module.kernel_size)) for size in _sizes(module))
    widths = dict.fromkeys(parameter.shape[1] for parameter in model.parameters() if parameter.ndim > 1)
    yield from ((width,) for width in widths)
    yield from ((channels, size, size) for size in _SIZES for channels in (3, 1, *list(widths)[:1]))


def _sizes(module: _ConvNd) -> tuple[int, ...]:
    return _SIZES if len(module.kernel_size) < 3 else (16, 8, 32, 12, 24)


@torch.no_grad()
def prove(traced: fx.GraphModule, moved: nn.Module, probe: Tensor, expected: Any) -> None:
    """Refuse a graph that computes something else than the module it was traced from."""
    if probe.is_meta:
        return
    own = dict(traced.named_parameters(remove_duplicate=False))
    weights: dict[str, Tensor] = {
        name: value for name, value in moved.named_parameters(remove_duplicate=False) if name in own
    }
    traced_modes = {module: module.training for module in traced.modules()}
    for module in traced_modes:
        module.training = False
    try:
        result = functional_call(traced, weights, (probe.clone(),))
        if not _equal(moved._call_impl(probe.clone()), expected):
            raise PascalError(
                f"{type(moved).__name__} is random, or keeps state, at inference: dropout that stays on at inference "
                "is random; pass training=self.training"
            )
        if not _equal(result, expected):
            where = _first_difference(traced, moved, weights, probe)
            raise PascalError(
                f"the trace of {type(moved).__name__} computes something else from {where} on; state that forward "
                "keeps between calls, and tensors changed behind the graph's back, cannot be traced"
            )
        traced.meta["images_apart"] = _keeps_images_apart(traced, weights, probe, result)
    finally:
        for module, mode in traced_modes.items():
            module.training = mode


def _keeps_images_apart(traced: fx.GraphModule, weights: dict[str, Tensor], probe: Tensor, result: Any) -> bool:
    """Whether what is returned for an image does not depend on the images beside it."""
    if len(probe) < 2:
        return True
    others = torch.stack([probe[1], probe[0] + probe[1].flip(-1)])
    beside = functional_call(traced, weights, (others,))
    pairs = zip(tree_leaves(result), tree_leaves(beside), strict=True)
    tensors = [(one, other) for one, other in pairs if isinstance(one, Tensor)]
    return all(one.ndim > 0 and len(one) == len(probe) and _close(one[1], other[0]) for one, other in tensors)


def order_of_calls(model: nn.Module, kind: type[nn.Module]) -> list[str] | None:
    """Paths of the modules of a kind in the order in which a forward first calls them; None if no images fit."""
    order: dict[str, None] = {}
    copied = duplicate(model)
    for path, module in copied.named_modules():
        if isinstance(module, kind):
            module.register_forward_pre_hook(lambda *_, path=path: order.setdefault(path))
    for probe in _candidates(model):
        order.clear()
        try:
            with torch.no_grad():
                copied._call_impl(probe)
            return list(order)
        except Exception:
            continue
    return None


def _equal(one: Any, other: Any) -> bool:
    pairs = [tree_leaves(one), tree_leaves(other)]
    if len(pairs[0]) != len(pairs[1]):
        return False
    return all(_close(a, b) for a, b in zip(*pairs, strict=True))


def _close(one: Any, other: Any) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return one is other or bool(one == other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    finite = other[other.isfinite()]
    largest = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.allclose(one, other, rtol=0, atol=_TOLERANCE.get(one.dtype, 1e-2) * largest, equal_nan=True)


class _Arriving(fx.Interpreter):
    """Keeps what arrives at each module call."""

    def __init__(self, graph: fx.GraphModule) -> None:
        super().__init__(graph)
        self.arrived: list[tuple[str, str, Any]] = []

    def run_node(self, n: fx.Node) -> Any:
        if n.op == "call_module" and n.all_input_nodes:
            source = n.all_input_nodes[0]
            self.arrived.append((str(n.target), source.name, self.env[source]))
        return super().run_node(n)


def _first_difference(traced: fx.GraphModule, moved: nn.Module, weights: dict[str, Tensor], probe: Tensor) -> str:
    """The first call of the graph whose result is not what the module hands to the layer that reads it."""
    seen: dict[str, list[Any]] = {}
    hooks = [
        module.register_forward_pre_hook(lambda _, args, path=path: seen.setdefault(path, []).append(_kept(args)))
        for path, module in moved.named_modules()
    ]
    moved(probe.clone())
    for hook in hooks:
        hook.remove()
    arriving = copy.deepcopy(traced)
    arriving.load_state_dict(weights, strict=False)
    run = _Arriving(arriving)
    run.run(probe.clone())
    for path, source, value in run.arrived:
        if path in seen and seen[path] and not _equal(value, seen[path].pop(0)):
            return f"{source!r}, which {path} reads,"
    return "the output"


def _kept(args: Any) -> Any:
    return args[0].clone() if args and isinstance(args[0], Tensor) else None
