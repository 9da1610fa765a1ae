"""TET (Deng et al., ICLR 2022): direct training, every timestep's answer in the loss."""

import copy
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pascal.baselines.method import Field, Method, at_timestep, check_timesteps, given
from pascal.baselines.network import Neuron, Outcome, TimedNetwork
from pascal.baselines.plain import PlainIF
from pascal.errors import PascalError
from pascal.files import read_tensors, write_tensors
from pascal.graph.digests import DataDigest, model_digest
from pascal.inference import labelled_batches
from pascal.neurons import QCFS
from pascal.neurons.channels import along_channels
from pascal.neurons.levels import registered_layers

LEARNING_RATE = 1e-3
LEAK = 0.5  # τ, of what is left of a membrane after a timestep
ETA, TARGET = 0.05, 1.0  # weight of the regulariser, and what it draws the logits to


class _Fire(torch.autograd.Function):
    """s = [u ≥ θ]; ∂s/∂u = max(0, γ − |u − θ|)/γ², γ = θ."""

    @staticmethod
    def forward(ctx: Any, membrane: Tensor, threshold: Tensor, strictly: bool = False) -> Tensor:
        ctx.save_for_backward(membrane, threshold)
        fired = membrane > threshold if strictly else membrane >= threshold
        return fired.to(membrane.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        membrane, threshold = ctx.saved_tensors
        slope = (threshold - (membrane - threshold).abs()).clamp(min=0) / threshold**2
        return gradients[0] * slope, None, None


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


class LeakyIF(Neuron):
    """TET's own neuron: u(t) = τ·u(t−1) + X[t], fires at u > 1 and is set back to 0."""

    def __init__(self, qcfs: QCFS) -> None:
        super().__init__(qcfs, whole_threshold=True)
        self.step = torch.ones_like(self.step)

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        return leaky_spikes(currents, lambda membrane: (membrane > 1).to(membrane.dtype)).bool()


def leaky_spikes(currents: Tensor, fire: Callable[[Tensor], Tensor]) -> Tensor:
    """Spikes of leaky neurons with hard reset: (T, ...) → (T, ...)."""
    membrane, spikes, train = torch.zeros_like(currents[0]), torch.zeros_like(currents[0]), []
    for current in currents:
        membrane = LEAK * membrane * (1 - spikes) + current
        spikes = fire(membrane)
        train.append(spikes)
    return torch.stack(train)


class SurrogateLIF(nn.Module):
    """The same, differentiable through all its timesteps. Shape: (timesteps · N, ...) → the same."""

    def __init__(self, qcfs: QCFS, timesteps: int) -> None:
        super().__init__()
        self.timesteps = timesteps

    def forward(self, merged: Tensor) -> Tensor:
        one = torch.ones((), dtype=merged.dtype, device=merged.device)
        currents = merged.unflatten(0, (self.timesteps, -1))
        return leaky_spikes(currents, lambda membrane: _Fire.apply(membrane, one, True)).flatten(0, 1)


def tet_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """(1 − η)·mean over t of CE(o(t), y) + η·mean over t of (o(t) − φ)²; logits (T, N, classes)."""
    answers = F.cross_entropy(logits.flatten(0, 1), labels.repeat(len(logits)))
    return (1 - ETA) * answers + ETA * (logits - TARGET).square().mean()


def train(
    ann: nn.Module, batches: Iterable[Any], timesteps: int, epochs: int, neuron: Callable[[QCFS, int], nn.Module]
) -> nn.Module:
    """A copy of `ann` whose weights were trained as those of an SNN with these neurons; its thresholds stay."""
    trained = copy.deepcopy(ann)
    spiking = copy.deepcopy(ann).train()
    for path, layer in registered_layers(spiking).items():
        spiking.set_submodule(path, neuron(layer, timesteps))
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
    learned = {name: value for name, value in spiking.state_dict().items() if name in trained.state_dict()}
    trained.load_state_dict({**trained.state_dict(), **learned})
    return trained.eval()


def with_new_weights(ann: nn.Module, seed: int = 0) -> nn.Module:
    """A copy whose layers start as torch starts them."""
    fresh = copy.deepcopy(ann)
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        for module in fresh.modules():
            reset: Any = getattr(module, "reset_parameters", None)
            if reset is not None and not isinstance(module, QCFS):
                reset()
    return fresh


def _kept(field: Field, start: nn.Module, batches: list[Any], make: Callable[[], nn.Module]) -> nn.Module:
    """The trained network, from the store if it was trained there already."""
    if field.store is None:
        return make()
    digest = DataDigest()
    for images, labels in batches:
        digest.add(images)
        digest.add(labels)
    about = f"{model_digest(start)} {digest.hexdigest()} {field.timesteps} {field.epochs} {field.scratch}"
    path = field.store / f"tet-{hashlib.sha256(about.encode()).hexdigest()[:16]}.safetensors"
    if path.exists():
        trained = copy.deepcopy(start)
        trained.load_state_dict(read_tensors(path))
        return trained.eval()
    trained = make()
    write_tensors(path, trained.state_dict())
    return trained


class TemporalEfficientTraining(Method):
    """Trained with labels, so no conversion: it stands beside the others for what training can do at a short T.

    From the QCFS network on, with its plain neurons; or from scratch as published, with leaky ones.
    """

    name = "tet"
    paper = "TET, ICLR 2022"
    needs = ("training",)

    def __init__(self, ann: nn.Module, field: Field) -> None:
        self.timesteps = min(check_timesteps(self.name, field.timesteps), key=lambda value: abs(value - 4))
        start = with_new_weights(ann) if field.scratch else ann
        surrogate, neuron = (SurrogateLIF, LeakyIF) if field.scratch else (SurrogateIF, PlainIF)
        batches = list(labelled_batches(given(self.name, field, "training")))
        trained = _kept(field, start, batches, lambda: train(start, batches, self.timesteps, field.epochs, surrogate))
        self.network = TimedNetwork(trained, neuron)
        self.label = f"TET, {'from scratch' if field.scratch else 'fine-tuned'}, {field.epochs} epochs"
        self.longest = self.timesteps
        self.answers = (at_timestep(self.timesteps),)

    @classmethod
    def check(cls, field: Field) -> None:
        super().check(field)
        if isinstance(field.epochs, bool) or not isinstance(field.epochs, int) or field.epochs < 1:
            raise PascalError(f"tet: epochs: got {field.epochs!r}, expected a whole number of at least 1")

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, self.timesteps)

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return timesteps

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 0
