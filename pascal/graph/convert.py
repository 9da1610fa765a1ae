"""ANN → SNN: the ordered list of rewrites of each engine (Section 3.2)."""

from dataclasses import replace

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm

from pascal.errors import PascalError
from pascal.graph.contractions import spell_out
from pascal.graph.counts import CountsSNN
from pascal.graph.folding import count_spikes, fold_halves, fold_steps, work_in_place
from pascal.graph.images import dtype_and_device
from pascal.graph.integer import IntegerSNN, Pixels
from pascal.graph.network import SpikingNetwork
from pascal.graph.passes import (
    fold_batch_norm,
    replace_activations,
    replace_activations_plain,
    restore_weighted_modules,
    separate_calls,
    share_constants,
)
from pascal.graph.steps import SteppedSNN
from pascal.graph.timesteps import count_timesteps, maxima_of_spikes
from pascal.graph.trace import neuron_nodes, trace
from pascal.inference import check_model
from pascal.neurons.qcfs import check_levels

ENGINES = ("steps", "counts", "integer")


def convert(
    ann: nn.Module,
    engine: str = "steps",
    neuron: str = "pasc",
    timesteps: int | None = None,
    compiled: bool = False,
    pixels: Pixels | None = None,
    example: Tensor | None = None,
) -> SpikingNetwork:
    """The spiking network that computes the same function as `ann`, a trained network with QCFS activations.

    `engine="steps"` simulates every timestep; `"counts"` evaluates the same spikes in closed form, at the ANN's speed
    (`compiled`: through torch.compile); `"integer"` has INT8 weights and only integers between `pixels` and logits.
    `neuron="if"` with `timesteps` gives the vanilla SNN of QCFS instead, for comparison: not exact.
    `example`: images of the shape that the network will see, where it cannot be told from its first layer.
    """
    _check_options(engine, neuron, timesteps, compiled, pixels)
    traced = trained_graph(ann, example)
    if neuron == "if":
        return _plain_snn(traced, timesteps)
    if engine == "integer":
        spell_out(traced)
        return IntegerSNN(traced, count_timesteps(traced), pixels or Pixels()).eval()
    return _counts_snn(traced, compiled) if engine == "counts" else _pasc_snn(traced)


def _check_options(engine: str, neuron: str, timesteps: int | None, compiled: bool, pixels: Pixels | None) -> None:
    """Refuse what is unknown, and options that the chosen engine or neuron would pass over."""
    if engine not in ENGINES:
        raise PascalError(f"engine: got {engine!r}, expected one of {ENGINES}")
    if neuron not in ("pasc", "if"):
        raise PascalError(f"neuron: got {neuron!r}, expected 'pasc' or 'if'")
    if neuron == "if" and engine != "steps":
        raise PascalError(f"engine: got {engine!r}, but the spikes of plain IF have no closed form; use 'steps'")
    if neuron == "pasc" and timesteps is not None:
        raise PascalError(f"timesteps: got {timesteps}, but PASC's follow from the levels; use neuron='if'")
    if compiled and engine != "counts":
        raise PascalError(f"compiled: got True with engine={engine!r}, expected engine='counts'")
    if pixels is not None and engine != "integer":
        raise PascalError(f"pixels: got {pixels} with engine={engine!r}, expected engine='integer'")


def trained_graph(ann: nn.Module, example: Tensor | None = None) -> fx.GraphModule:
    """Our own copy of a network that is ready for conversion."""
    dtype_and_device(check_model(ann, "ann"))
    training = [path or type(ann).__name__ for path, module in ann.named_modules() if module.training]
    if training:
        raise PascalError(f"{training[0]} is in training mode; call ann.eval() before conversion")
    for name, tensor in {**dict(ann.named_parameters()), **dict(ann.named_buffers())}.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise PascalError(f"{name} holds NaN or infinite values; expected trained, finite weights")
    negative = [path for path, module in ann.named_modules() if isinstance(module, _BatchNorm) and _impossible(module)]
    if negative:
        raise PascalError(f"{negative[0]}.running_var: got negative variances, expected those of trained statistics")
    traced = trace(ann, example)
    if not any(neuron_nodes(traced)):
        raise PascalError(
            f"{type(ann).__name__} has no QCFS activation; call pascal.quantize(model) and train it first"
        )
    for rewrite in (separate_calls, restore_weighted_modules, fold_batch_norm):
        rewrite(traced)
    return traced.requires_grad_(False)


def _impossible(norm: _BatchNorm) -> bool:
    return norm.running_var is not None and bool((norm.running_var < 0).any())


def _pasc_snn(traced: fx.GraphModule) -> SteppedSNN:
    edges = count_timesteps(traced)
    share_constants(traced, edges)
    replace_activations(traced)
    return SteppedSNN(traced, edges).eval()


def _counts_snn(traced: fx.GraphModule, compiled: bool) -> CountsSNN:
    edges = count_timesteps(traced)
    count_spikes(traced)
    fold_steps(traced, edges)
    fold_halves(traced)
    work_in_place(traced)
    return CountsSNN(traced, edges, compiled).eval()


def _plain_snn(traced: fx.GraphModule, timesteps: int | None) -> SteppedSNN:
    """The full bias enters at every timestep; maxima are taken in each timestep, and named as inexact."""
    timesteps = check_levels(timesteps, "timesteps")  # type: ignore[arg-type]
    edges = count_timesteps(traced, any_maxima=True)
    inexact = maxima_of_spikes(traced, edges)
    replace_activations_plain(traced)
    edges = {node: replace(edge, timesteps=timesteps) for node, edge in edges.items()}
    return SteppedSNN(traced, edges, "if", inexact).eval()
