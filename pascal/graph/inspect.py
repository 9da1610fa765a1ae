"""The pre-flight: what of a model becomes spikes, what does not and what to do about it, before anything is trained."""

from typing import Any

import torch
from torch import Tensor, fx, nn

from pascal.errors import PascalError
from pascal.graph.images import dtype_and_device
from pascal.graph.inspection import Activation, Covered, Inspection, Layer
from pascal.graph.operations import WEIGHTED_MODULES, call_name, property_of
from pascal.graph.passes import restore_weighted_modules, separate_calls
from pascal.graph.quantize import replace_relus
from pascal.graph.timesteps import Edges, Refusal, analyse
from pascal.graph.trace import module_of, network_name, neuron_nodes, path_of, trace
from pascal.inference import check_model


@torch.random.fork_rng([])  # probes are drawn
def inspect(model: nn.Module, example: Tensor | None = None) -> Inspection:
    """Every activation that becomes a neuron, every call that the theorems cover, and every one that they do not.

    Nothing is trained and `model` is not changed. MACs are those of one image like `example`, or of one made to fit.
    """
    name = network_name(check_model(model))
    parameters = sum(parameter.numel() for parameter in model.parameters())
    try:
        traced = trace(model, example if example is not None else _usual_images(model))
    except PascalError as error:
        return Inspection(name, parameters, failure=str(error))
    replaced = replace_relus(traced)
    for rewrite in (separate_calls, restore_weighted_modules):
        rewrite(traced)
    edges, refusals = analyse(traced)
    return Inspection(
        name,
        parameters,
        image_shape=traced.meta["probe"][1:],
        activations=tuple(_activations(traced, replaced)),
        layers=tuple(_layers(traced)),
        covered=tuple(_covered(traced, edges, refusals)),
        refusals=(*refusals, *_of_the_batch(traced)),
    )


def _usual_images(model: nn.Module) -> Tensor | None:
    """Images of the size that timm writes beside its networks."""
    known = getattr(model, "pretrained_cfg", None) or getattr(model, "default_cfg", None)
    shape = known.get("input_size") if isinstance(known, dict) else None
    if shape is None:
        return None
    dtype, device = dtype_and_device(model)
    images = torch.randn(2, *shape, generator=torch.Generator().manual_seed(0))
    return images.to(device, dtype)


def _activations(traced: fx.GraphModule, replaced: dict[str, str]) -> list[Activation]:
    return [
        Activation(str(node.target), replaced.get(str(node.target), "QCFS"), qcfs.clip)
        for node, qcfs in neuron_nodes(traced)
    ]


def _covered(traced: fx.GraphModule, edges: Edges, refusals: list[Refusal]) -> list[Covered]:
    refused = {refusal.path for refusal in refusals}
    neurons = {node for node, _ in neuron_nodes(traced)}
    calls = [
        node for node in edges if node.op != "placeholder" and node not in neurons and path_of(node) not in refused
    ]
    found = [(node, module_of(traced, node)) for node in calls]
    return [Covered(path_of(node), call_name(node, module), str(property_of(node, module))) for node, module in found]


def _layers(traced: fx.GraphModule) -> list[Layer]:
    """Weighted layers with their MACs, from one run on the probe."""
    sizes = _Sizes(traced)
    dtype, device = dtype_and_device(traced)
    with torch.no_grad():
        sizes.run(torch.zeros(traced.meta["probe"], dtype=dtype, device=device))
    return sizes.layers


class _Sizes(fx.Interpreter):
    """Runs a graph and keeps what its weighted layers cost per image."""

    def __init__(self, graph: fx.GraphModule) -> None:
        super().__init__(graph)
        self.layers: list[Layer] = []

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        result, module = super().call_module(target, args, kwargs), self.fetch_attr(target)
        if isinstance(module, WEIGHTED_MODULES):
            shape = tuple(result.shape[1:])
            transposed = getattr(module, "transposed", False)
            positions = args[0][0] if transposed else result[0]  # a transposed convolution multiplies at its inputs
            macs = positions.numel() * module.weight[0].numel()
            self.layers.append(Layer(str(target), type(module).__name__, shape, macs))
        return result


def _of_the_batch(traced: fx.GraphModule) -> list[Refusal]:
    if traced.meta.get("images_apart", True):
        return []
    remedy = "an image's answer depends on the images beside it; leave dimension 0 alone in sums, means and flips"
    return [Refusal("(the whole network)", "batch", remedy)]
