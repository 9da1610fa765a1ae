"""What every neuron of a network does on a batch: the ANN's levels or the SNN's spike counts, by layer."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.graph.boundaries import boundary_distances
from pascal.graph.images import check_images, dtype_and_device
from pascal.graph.network import SpikingNetwork
from pascal.inference import check_model, in_arithmetic_of, run, undisturbed
from pascal.neurons import QCFS
from pascal.neurons.channels import along_channels
from pascal.neurons.pasc import emit
from pascal.neurons.watching import watched


@dataclass(frozen=True)
class Observation:
    """Logits, or all that is put out; counts by layer; for an ANN the distances from level boundaries, in steps.

    `trains` are those of a simulation; the trains of closed forms, and the ANN's own, are told by their counts.
    """

    logits: Any
    counts: dict[str, Tensor]
    distances: dict[str, Tensor] = field(default_factory=dict)
    trains: dict[str, Tensor] = field(default_factory=dict)
    levels: dict[str, int] = field(default_factory=dict)  # of what counts tell

    def train(self, path: str) -> Tensor | None:
        """Spikes of a layer, (timesteps, N, ...): simulated, or earliest-first by definition."""
        if path in self.trains:
            return self.trains[path]
        return emit(self.counts[path], self.levels[path]) if path in self.levels else None


def observe(model: nn.Module, images: Tensor, trains: bool = False) -> Observation:
    """Run an ANN or an SNN on images, cast to the model's own arithmetic, and look at every neuron.

    The model runs in evaluation mode and is left as it came.
    """
    dtype_and_device(check_model(model))
    images = in_arithmetic_of(model, images)
    check_images(images, model)
    with undisturbed(model):
        if not isinstance(model, SpikingNetwork):
            return _observe_ann(model, images)
        if trains and type(model).trains is not SpikingNetwork.trains:
            return _observe_trains(model, images)
        outputs, counts = run(model, images, model.record)
        return Observation(outputs, counts, levels=model.levels if model.neuron == "pasc" else {})


def _observe_trains(snn: SpikingNetwork, images: Tensor) -> Observation:
    outputs, trains = run(snn, images, snn.trains)
    counts = {path: train.sum(0, dtype=torch.int32) for path, train in trains.items()}
    return Observation(outputs, counts, trains=trains)


def _observe_ann(ann: nn.Module, images: Tensor) -> Observation:
    counts: dict[str, Tensor] = {}
    distances: dict[str, Tensor] = {}
    levels: dict[str, int] = {}

    def look(path: str, qcfs: QCFS, preactivation: Tensor) -> None:
        path = call_path(path, counts)
        if not bool(preactivation.isfinite().all()):
            raise PascalError(f"{path}: got NaN or infinite preactivations, expected finite ones; compute in float64")
        counts[path], levels[path] = qcfs.count(preactivation), qcfs.levels
        step = along_channels(qcfs.step, preactivation)
        distances[path] = boundary_distances(preactivation, step, qcfs.levels)

    with watched(ann, look):
        outputs = run(ann, images)
    return Observation(outputs, counts, distances, levels=levels)


def call_path(path: str, seen: dict[str, Tensor]) -> str:
    """A QCFS called again is another layer of the SNN: path_2, path_3, …"""
    number, candidate = 1, path
    while candidate in seen:
        number += 1
        candidate = f"{path}_{number}"
    return candidate
