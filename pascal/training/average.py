"""The exponential moving average of the weights, with which short trainings end."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """W̄ ← W̄ + (1 − d)·(W − W̄) after every step, batch norm's statistics included; empty with d = 0.

    Early on d is (1 + step)/(10 + step), so that fresh weights are soon forgotten: a function of the step alone.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._model, self._decay = model, decay
        self.tensors: dict[str, Tensor] = {}
        self.load({})

    def update(self, step: int) -> None:
        """Take in the weights after a step, counted from zero."""
        if self.tensors:
            weight = 1 - min(self._decay, (1 + step) / (10 + step))
            torch._foreach_lerp_(list(self.tensors.values()), list(self._weights().values()), weight)

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from another average, or begin anew with the weights as they are."""
        own = self._weights() if self._decay else {}
        self.tensors = {name: torch.empty_like(now).copy_(tensors.get(name, now)) for name, now in own.items()}

    def apply(self) -> None:
        """Give the model the averaged weights."""
        _copy(self.tensors, self._weights())

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The model with averaged weights for a while, and with its own again after it."""
        before = {name: tensor.clone() for name, tensor in self._weights().items() if name in self.tensors}
        self.apply()
        try:
            yield
        finally:
            _copy(before, self._weights())

    def _weights(self) -> dict[str, Tensor]:
        """The model's own memory, not copies, of all that can be averaged."""
        tensors = [*self._model.named_parameters(), *self._model.named_buffers()]
        return {name: tensor.detach() for name, tensor in tensors if tensor.is_floating_point()}


def _copy(source: Mapping[str, Tensor], target: Mapping[str, Tensor]) -> None:
    for name, tensor in source.items():
        target[name].copy_(tensor)
