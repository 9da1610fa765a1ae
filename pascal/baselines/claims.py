"""Rivals' claims before the certificate: a method as a network that `pascal.verify` compares with the ANN."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from pascal.baselines.discovery import METHODS
from pascal.baselines.method import Field, Method
from pascal.errors import PascalError
from pascal.graph.network import SpikingNetwork
from pascal.inference import check_model, image_batches


class RivalSNN(SpikingNetwork):
    """The network of a rival method, after the timesteps at which its counts are to be the ANN's levels."""

    def __init__(self, method: Method) -> None:
        super().__init__(method.network.graph, method.network.edges, method.name)  # type: ignore[arg-type]
        self.method = method

    def forward(self, images: Tensor) -> Tensor:
        return self.record(images)[0]

    @torch.no_grad()
    def record(self, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits, and what the spikes of every neuron add up to."""
        outcome = self.method.run(images)
        units = {path: neuron.units(outcome.trains[path]) for path, neuron in self.method.network.neurons.items()}
        return outcome.logits[-1], units


def rival(ann: nn.Module, name: str, calibration: Iterable[Any] | None = None) -> RivalSNN:
    """A method's network for `pascal.verify(ann, rival(ann, "radix"), batches)`, at T = L.

    Methods in QCFS's units, whose counts stand for levels at T = L alone, need the same levels in all layers.
    """
    check_model(ann, "ann")
    if name not in METHODS:
        raise PascalError(f"method: got {name!r}, expected one of {', '.join(METHODS)}")
    levels = max((layer.levels for layer in METHODS["group"](ann, Field()).network.neurons.values()), default=1)
    shown = None if calibration is None else list(image_batches(calibration))
    field = Field((levels,), presimulation=levels, calibration=shown)
    METHODS[name].check(field)
    method = next(METHODS[name].variants(ann, field))
    for layer, neuron in method.network.neurons.items():
        if neuron.whole_threshold and neuron.levels != levels:
            raise PascalError(
                f"{name}: {layer} has {neuron.levels} levels, expected {levels} as others have: its counts after T "
                "timesteps stand for levels where all layers have T; set the same levels"
            )
    return RivalSNN(method)
