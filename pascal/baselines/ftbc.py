"""FTBC (Wu et al., ECCV 2024): one bias for each channel and timestep, found without gradients."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from pascal.baselines.method import Field, Method, at_timestep, check_timesteps, given
from pascal.baselines.network import Neuron, Outcome, TimedNetwork
from pascal.errors import PascalError
from pascal.graph.digests import DataDigest
from pascal.graph.observe import observe
from pascal.inference import image_batches
from pascal.neurons import QCFS, if_spikes
from pascal.neurons.pasc import half, step_like

RATES = (0.0, 0.2, 0.4, 0.8, 1.2)  # n·α: the script's n = 3, α = 0.4 is the last


@torch.no_grad()
def errors_over_time(currents: Tensor, threshold: Tensor | float, activation: Tensor) -> Tensor:
    """Mean over images and positions of what each timestep emits beyond the ANN's activation.

    For t = 1 … T: u = v + X[t]; e = θ·[u ≥ θ] − a; u −= e; v = u − θ·[u ≥ θ], so that later timesteps see it mended.
    Shape: `currents` (T, N, C, ...), `activation` (N, C, ...) → (T, C).
    """
    threshold = step_like(threshold, currents)
    membrane = torch.empty_like(currents[0]).copy_(half(threshold))
    means = []
    for current in currents:
        membrane += current
        error = (membrane >= threshold) * threshold - activation
        membrane -= error
        membrane -= (membrane >= threshold) * threshold
        means.append(error.transpose(0, 1).flatten(1).mean(1))
    return torch.stack(means)


def biased(currents: Tensor, biases: Tensor) -> Tensor:
    """X[t] − b[t]: (T, N, C, ...) and (T, C) → (T, N, C, ...)."""
    return currents - biases.view(len(biases), 1, -1, *(1,) * (currents.ndim - 3))


class BiasedIF(Neuron):
    """Plain IF behind its biases; while it calibrates, it first adds what this batch shows."""

    biases: Tensor | None = None
    activation: Tensor | None = None  # of the ANN on the batch to calibrate on
    rate = 0.0

    def __init__(self, qcfs: QCFS) -> None:
        super().__init__(qcfs, whole_threshold=True)

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        if self.biases is None:
            self.biases = torch.zeros(len(currents), currents.shape[2]).to(step)
        if self.activation is not None:
            self.biases = self.biases + self.rate * errors_over_time(currents, step, self.activation)
        return if_spikes(biased(currents, self.biases), step)


class TemporalBias(Method):
    """Calibrated anew for each T; n·α is chosen on images that were not calibrated on."""

    name = "ftbc"
    paper = "FTBC, ECCV 2024"
    needs = ("calibration",)

    def __init__(self, ann: nn.Module, field: Field, timesteps: int | None = None) -> None:
        self.timesteps = timesteps or check_timesteps(self.name, field.timesteps)[-1]
        self.longest = self.timesteps
        self.ann = ann
        *shown, held_out = _several(list(image_batches(given(self.name, field, "calibration"))))
        by_rate = {rate: self._calibrated(shown, rate) for rate in RATES}
        agreement = {rate: self._agreement(network, held_out) for rate, network in by_rate.items()}
        self.rate = max(RATES, key=lambda rate: (agreement[rate], -rate))
        self.network = by_rate[self.rate]
        self.label = f"FTBC, n·α = {self.rate:g}"
        self.answers = (at_timestep(self.timesteps),)

    @classmethod
    def variants(cls, ann: nn.Module, field: Field) -> Iterator[Method]:
        for timesteps in check_timesteps(cls.name, field.timesteps):
            yield cls.shared(ann, field, timesteps)

    @classmethod
    def shared(cls, ann: nn.Module, field: Field, timesteps: int) -> "TemporalBias":
        """The one of so many timesteps: its calibration takes a while."""
        made: TemporalBias = field.once((cls.name, timesteps), lambda: cls(ann, field, timesteps))
        return made

    def _calibrated(self, batches: list[Tensor], rate: float) -> TimedNetwork:
        network = TimedNetwork(self.ann, BiasedIF)
        for images in batches:
            seen = observe(self.ann, images).counts
            for path, neuron in network.neurons.items():
                neuron.rate = rate / len(batches)
                neuron.activation = neuron.worth(seen[path][None])[0] / neuron.levels
            network.run(images, self.timesteps)
        for neuron in network.neurons.values():
            neuron.activation = None
        return network

    def _agreement(self, network: TimedNetwork, images: Tensor) -> float:
        expected = observe(self.ann, images).logits.argmax(-1)
        return float((network.run(images, self.timesteps).logits[-1].argmax(-1) == expected).double().mean())

    @property
    def settings(self) -> str:
        digest = DataDigest()
        for neuron in self.network.neurons.values():
            digest.add(neuron.biases)
        return f"{super().settings} {digest.hexdigest()}"

    def run(self, images: Tensor) -> Outcome:
        return self.network.run(images, self.timesteps)

    def neuron_operations(self, levels: int, timesteps: float) -> float:
        return 2 * timesteps  # bias and membrane

    def buffer_bits(self, levels: int, timesteps: float) -> float:
        return 0  # T biases for a channel, shared by its neurons


def _several(batches: list[Tensor]) -> list[Tensor]:
    """At least two batches: the last is not calibrated on."""
    if len(batches) > 1:
        return batches
    if len(batches[0]) < 2:
        raise PascalError("ftbc: calibration: got 1 image, expected at least 2: one to calibrate on, one to choose by")
    return list(batches[0].chunk(2))
