"""TET (Deng et al., ICLR 2022): direct training, every timestep's answer in the loss; here from the QCFS network on."""

import copy
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pascal.baselines.method import Field, Method, at_timestep, check_timesteps
from pascal.baselines.network import Outcome, TimedNetwork
from pascal.baselines.plain import PlainIF
from pascal.errors import PascalError
from pascal.neurons import QCFS
from pascal.neurons.channels import along_channels
from pascal.neurons.levels import registered_layers

LEARNING_RATE = 1e-3
ETA, TARGET = 0.05, 1.0  # weight of the regulariser, and what it draws the logits to


class _Fire(torch.autograd.Function):
    """s = [u ≥ θ]; ∂s/∂u = max(0, γ − |u − θ|)/γ², γ = θ."""

    @staticmethod
    def forward(ctx: Any, membrane: Tensor, threshold: Tensor) -> Tensor:
        ctx.save_for_backward(membrane, threshold)
        return (membrane >= threshold).to(membrane.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        membrane, threshold = ctx.saved_tensors
        slope = (threshold - (membrane - threshold).abs()).clamp(min=0) / threshold**2
        return gradients[0] * slope, None


class SurrogateIF(nn.Module):
    """Plain IF with soft reset, differentiable through all its timesteps.

    Shape: (timesteps · N, ...) → the same.
    """

    threshold: Tensor

    def __init__(self, qcfs: QCFS, timesteps: int) -> None:
        super().__init__()
        self.timesteps = timesteps
        self.register_buffer("threshold", qcfs.threshold.detach().clone())

    def forward(self, merged: Tensor) -> Tensor:
        threshold = along_channels(self.threshold, merged)
        membrane, train = threshold / 2, []
        for current in merged.unflatten(0, (self.timesteps, -1)):
            membrane = membrane + current
            spikes = _Fire.apply(membrane, threshold)
            membrane = membrane - spikes * threshold
            train.append(spikes * threshold)
        return torch.cat(train)


def tet_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """(1 − η)·mean over t of CE(o(t), y) + η·mean over t of (o(t) − φ)²; logits (T, N, classes)."""
    answers = F.cross_entropy(logits.flatten(0, 1), labels.repeat(len(logits)))
    return (1 - ETA) * answers + ETA * (logits - TARGET).square().mean()


def fine_tune(ann: nn.Module, batches: Iterable[Any], timesteps: int, epochs: int) -> nn.Module:
    """A copy of `ann` whose weights were trained as those of a plain SNN; its thresholds stay."""
    tuned = copy.deepcopy(ann)
    spiking = copy.deepcopy(ann).train()
    for path, layer in registered_layers(spiking).items():
        spiking.set_submodule(path, SurrogateIF(layer, timesteps))
    optimizer = torch.optim.Adam(spiking.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        for images, labels in batches:
            merged = images.repeat(timesteps, *(1,) * (images.ndim - 1))
            loss = tet_loss(spiking(merged).unflatten(0, (timesteps, -1)), labels)
            if not bool(loss.isfinite()):
                raise PascalError("tet: the loss is no longer finite; train fewer epochs, or in float32")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    learned = {name: value for name, value in spiking.state_dict().items() if name in tuned.state_dict()}
    tuned.load_state_dict({**tuned.state_dict(), **learned})
    return tuned.eval()


class TemporalEfficientTraining(Method):
    """Fine-tuned with labels, so no conversion: it stands beside the others for what training can do at a short T."""

    name = "tet"
    paper = "TET, ICLR 2022"
    label = "TET, fine-tuned"
    needs = ("training",)

    def __init__(self, ann: nn.Module, field: Field) -> None:
        self.timesteps = min(check_timesteps(self.name, field.timesteps), key=lambda value: abs(value - 4))
        tuned = fine_tune(ann, self.given(field, "training"), self.timesteps, field.epochs)
        self.network = TimedNetwork(tuned, PlainIF)
        self.longest = self.timesteps
        self.answers = (at_timestep(self.timesteps),)

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, self.timesteps)

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return timesteps

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 0
