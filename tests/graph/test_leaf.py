"""Calls of our own functions survive every further trace of the graph, and no trace leaves anything behind."""

import torch
from torch import Tensor, fx, nn
from torch.fx import _symbolic_trace

import pascal


class Writes(nn.Module):
    """Writes into a tensor, and decides by its size."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.relu, self.last = nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Linear(4, 2)

    def forward(self, images: Tensor) -> Tensor:
        rates = self.relu(self.first(images))
        rates[:, 0] = rates[:, 1] if rates.shape[2] > 2 else 0
        return self.last(rates.mean((2, 3)))


class KeepsModules(fx.Tracer):
    def is_leaf_module(self, module: nn.Module, path: str) -> bool:
        return True


def images() -> Tensor:
    return torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))


def test_traced_again_by_anybody() -> None:
    ann = pascal.quantize(Writes().eval())
    again = fx.GraphModule(ann, KeepsModules().trace(ann))
    assert [node.target for node in again.graph.nodes] == [node.target for node in ann.graph.nodes]
    assert torch.equal(again(images()), ann(images()))
    inside = nn.Sequential(ann).double().eval()
    assert pascal.verify(inside, pascal.convert(inside), images().double()).passed


def test_nothing_is_kept_of_a_network() -> None:
    before = len(_symbolic_trace._wrapped_fns_to_patch)
    for _ in range(3):
        pascal.convert(pascal.quantize(Writes().eval()))
    assert len(_symbolic_trace._wrapped_fns_to_patch) == before
