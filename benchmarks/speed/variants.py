"""The networks that are measured, by name."""

from collections.abc import Callable

import torch
from torch import nn

import pascal
from benchmarks.networks import lively
from benchmarks.speed.rivals import plain_stepwise, relu_network, spikingjelly_snn


def alive_network(name: str, levels: int) -> nn.Module:
    """A network with fresh weights whose thresholds fit its preactivations, so that it spikes as trained ones do."""
    torch.manual_seed(0)
    network = pascal.build_network(name, levels=levels)
    return lively(network, torch.randn(8, 3, 32, 32), [levels] * len(pascal.get_levels(network))).requires_grad_(False)


def make(variant: str, ann: nn.Module, levels: int) -> nn.Module:
    """A variant of the ANN."""
    makers: dict[str, Callable[[], nn.Module]] = {
        "ANN": lambda: relu_network(ann),
        "counts": lambda: pascal.convert(ann, engine="counts"),
        "integer": lambda: pascal.convert(ann, engine="integer"),
        "steps": lambda: pascal.convert(ann),
        "plain stepwise": lambda: plain_stepwise(ann),
        "SpikingJelly": lambda: spikingjelly_snn(ann, levels),
        "ANN, compiled": lambda: compiled(relu_network(ann)),
        "counts, compiled": lambda: pascal.convert(ann, engine="counts", compiled=True),
    }
    return makers[variant]()


def compiled(network: nn.Module) -> nn.Module:
    """As the counts engine compiles itself."""
    network.forward = torch.compile(network.forward, options={"freezing": True})  # type: ignore[method-assign]
    return network
