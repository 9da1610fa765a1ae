"""One activation of a network: samples of what reaches it in the float and in the quantised network, and its θ."""

import torch
from torch import Tensor, nn

from pascal.calibration.ridge import some
from pascal.calibration.thresholds import by_error, by_percentile, quantised
from pascal.errors import PascalError
from pascal.graph.timesteps import count_timesteps
from pascal.neurons import QCFS

PLACES = 16_384  # sampled for thresholds and errors
MOST_VALUES = 2**22  # in one sample: wide layers get fewer places
_LEAST = 0.01  # of the layer: a channel that hardly fires has no scale of its own


class Samples:
    """Preactivations (places, C) of the float network and of the quantised one, at the same random places."""

    def __init__(self, batches: int, generator: torch.Generator) -> None:
        self.batches, self.generator = batches, generator
        self._chosen: list[Tensor] = []
        self._float: list[Tensor] = []
        self._spiking: list[Tensor] = []
        self.largest: Tensor | None = None  # of each channel, over all images

    def add_float(self, values: Tensor) -> None:
        """The next batch of the float network, which chooses the places."""
        flat = values.flatten(2) if values.ndim > 2 else values[:, :, None]
        wanted = min(PLACES, MOST_VALUES // flat.shape[1] + 1)
        places = some(len(flat) * flat.shape[2], -(-wanted // self.batches), self.generator, flat.device)
        self._chosen.append(places)
        self._float.append(flat[places // flat.shape[2], :, places % flat.shape[2]])
        largest = flat.amax((0, 2))
        self.largest = largest if self.largest is None else torch.maximum(self.largest, largest)

    def add_spiking(self, batch: int, values: Tensor) -> None:
        """A batch of the quantised network, at those places; a second round replaces the first."""
        flat = values.flatten(2) if values.ndim > 2 else values[:, :, None]
        places = self._chosen[batch]
        self._spiking[batch:] = [flat[places // flat.shape[2], :, places % flat.shape[2]]]

    @property
    def wanted(self) -> Tensor:
        """Of the float network."""
        return torch.cat(self._float)

    @property
    def arriving(self) -> Tensor:
        """Of the quantised network."""
        return torch.cat(self._spiking)


def rectified(values: Tensor, clip: float | None) -> Tensor:
    """The activation in whose place a QCFS stands: ReLU, or ReLU with a clip."""
    return values.relu() if clip is None else values.clamp(0, clip)


def relative_error(got: Tensor, wanted: Tensor) -> float:
    """‖got − wanted‖² / ‖wanted‖²; 0 where both are zero."""
    energy = float(wanted.double().square().sum())
    error = float((got - wanted).double().square().sum())
    return error / energy if energy else float(error > 0)


def neuron_error(layer: QCFS, samples: Samples) -> float:
    """The relative error of an activation with the thresholds that it has."""
    got = quantised(samples.arriving, layer.threshold.detach(), layer.levels)
    return relative_error(got, rectified(samples.wanted, layer.clip))


def fit_threshold(network: nn.Module, layer: QCFS, samples: Samples, method: str, percentile: float) -> str:
    """Give a layer the thresholds of a method; a note where it could not be what was asked for."""
    assert samples.largest is not None
    largest = rectified(samples.largest.double(), layer.clip)
    if not bool(largest.max() > 0):
        return "nothing above 0 arrives: its threshold is kept"
    wanted = rectified(samples.wanted, layer.clip)
    if method == "max":
        layer.threshold = largest.max()
        return ""
    if method == "percentile":
        layer.threshold = by_percentile(wanted, percentile) if bool((wanted > 0).any()) else largest.max()
        return ""
    arriving = samples.arriving if method == "ridge" else samples.wanted
    if method != "mse":
        scale = largest.clamp_min(_LEAST * float(largest.max()))
        each = by_error(arriving, wanted, scale, layer.levels, layer.clip)
        silent = largest <= 0  # channels that no image reached: any threshold is theirs
        layer.threshold = each.where(~silent, each[~silent].mean())
        if _may_differ(network):
            return ""
        layer.raw_threshold.data = layer.raw_threshold.new_empty(())
    layer.threshold = by_error(arriving, wanted, largest.max(), layer.levels, layer.clip)
    return "" if method == "mse" else "one threshold: a maximum is taken over its channels"


def _may_differ(network: nn.Module) -> bool:
    """Whether channels may have thresholds of their own: not where a maximum is taken over several of them."""
    try:
        count_timesteps(network)  # type: ignore[arg-type]
    except PascalError:
        return False
    return True
