"""`calibrate`: the layers of a quantised ReLU network in forward order, each fitted on the quantised layers before it.

The float network is the same one with a ReLU (or its clip) in the place of every QCFS. Both are run segment by segment
on stored values, so that the cost is linear in layers and in images; no label and no gradient is needed.
"""

import copy
from time import process_time
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from pascal.calibration.layer import Samples, fit_threshold, neuron_error, rectified, relative_error
from pascal.calibration.records import Calibration, LayerCalibration
from pascal.calibration.ridge import Ridge
from pascal.calibration.store import Store
from pascal.calibration.thresholds import check_percentile
from pascal.errors import PascalError
from pascal.graph.convert import trained_graph
from pascal.graph.images import check_images
from pascal.graph.segments import Part, parts_of
from pascal.inference import check_model, image_batches, in_arithmetic_of, run
from pascal.neurons import QCFS
from pascal.neurons.levels import registered_layers

METHODS = ("max", "percentile", "mse", "channel", "ridge")
PENALTY, READOUT_PENALTY = 1e-3, 1e-2
LEAST_IMAGES = 32  # of the ridge
HELD_OUT = 5  # every fifth image of "auto"


def calibrate(
    ann: nn.Module, batches: Any, method: str = "ridge", percentile: float = 99.9, seed: int = 0, bar: bool = False
) -> Calibration:
    """A copy of a quantised ReLU network with thresholds, and weights, fitted to images without labels.

    "max", "percentile" and "mse" give one threshold per layer, "channel" one per channel by the least squared error;
    "ridge" also corrects the weights for what quantisation upstream took away. "auto" takes the best of them on
    held-out images, by the divergence of the outputs from the float network's.
    """
    if method not in (*METHODS, "auto"):
        raise PascalError(f"method: got {method!r}, expected one of {(*METHODS, 'auto')}")
    check_percentile(percentile)
    began = process_time()
    network = trained_graph(copy.deepcopy(check_model(ann, "ann")).eval())
    images = _read(network, batches, LEAST_IMAGES if method in ("ridge", "auto") else 1)
    if method == "auto":
        return _best(network, images, percentile, seed, bar, began)
    layers = _fit(network, images, method, percentile, seed, bar)
    count = sum(map(len, images))
    return Calibration(network.requires_grad_(True), method, count, process_time() - began, layers)


def _read(network: nn.Module, batches: Any, least: int) -> list[Tensor]:
    images = []
    for batch in image_batches(batches):
        batch = in_arithmetic_of(network, batch)
        check_images(batch, network)
        if float(batch.abs().max()) > 100 and bool((batch == batch.round()).all()):
            raise PascalError(
                f"images: got whole numbers up to {float(batch.max()):g}, expected pixels scaled and normalised as the "
                "network was trained with"
            )
        images.append(batch)
    count = sum(map(len, images))
    if count < least:
        raise PascalError(f"batches: got {count} images, expected at least {least}; give more, or use method='mse'")
    return images


def _fit(
    network: nn.Module, images: list[Tensor], method: str, percentile: float, seed: int, bar: bool
) -> tuple[LayerCalibration, ...]:
    """Calibrate in place, segment by segment."""
    reference = float_twin(network)
    run(reference, images[0][:1])  # images that do not fit are refused here, in words
    parts = parts_of(network)  # type: ignore[arg-type]
    layers = []
    with Store() as store, torch.no_grad():
        for number, part in enumerate(tqdm(parts, "calibrate", leave=False, disable=None if bar else True)):
            if part.is_image:
                for batch, pixels in enumerate(images):
                    store["float", part.name, batch] = store["spiking", part.name, batch] = pixels
                continue
            generator = torch.Generator().manual_seed(seed + number)
            fitting = _Fitting(part, network, reference, store, len(images), generator)
            layer = fitting.fit(method, percentile)
            layers += [layer] if layer else []
    return tuple(layers)


def float_twin(network: nn.Module) -> nn.Module:
    """The network with the activations that its QCFS stand for."""
    twin = copy.deepcopy(network)
    for path, layer in registered_layers(network).items():
        twin.set_submodule(path, nn.ReLU() if layer.clip is None else nn.Hardtanh(0.0, layer.clip))
    return twin.eval()


class _Fitting:
    """One segment of the network and of its float twin, on all batches."""

    def __init__(
        self, part: Part, network: nn.Module, reference: nn.Module, store: Store, batches: int, generator: Any
    ) -> None:
        self.part, self.network, self.reference, self.store = part, network, reference, store
        self.batches, self.generator = batches, generator
        self.samples = Samples(batches, generator)
        self.sampled = True  # unless the segment hands on several tensors

    def fit(self, method: str, percentile: float) -> LayerCalibration | None:
        """Correct the segment's layer, choose the activation's thresholds, store what comes out."""
        ridge, note = self._watch(method), ""
        if not self.sampled:
            self._finish()
            return None
        before = self._error()
        correction = "none"
        if ridge is not None and ridge.columns:
            note = ridge.apply(READOUT_PENALTY if self.part.is_readout else PENALTY)
            correction = "bias" if note else "ridge"
            for batch in range(self.batches):
                self._keep(batch, self._run(self.network, "spiking", batch))
        neuron = self._neuron()
        if neuron is not None:
            note = note or fit_threshold(self.network, neuron, self.samples, method, percentile)
        after = self._error()
        self._finish()
        path = self.part.neuron or ("readout" if self.part.is_readout else self.part.name)
        return LayerCalibration(path, correction, before, after, note)

    def _watch(self, method: str) -> Ridge | None:
        """Run both networks; of a layer that can be corrected, sum up what it reads and what it lacks."""
        host: Any = self.network.get_submodule(self.part.host) if self.part.host and method == "ridge" else None
        ridge = None if host is None else Ridge(host, self.batches, self.generator)
        arrived: list[Tensor] = []
        hook = (
            host.register_forward_hook(lambda _, inputs, output: arrived.extend((inputs[0], output))) if host else None
        )
        for batch in range(self.batches):
            wanted = self._run(self.reference, "float", batch)
            got = self._run(self.network, "spiking", batch)
            self.store["float", self.part.name, batch] = wanted
            self.sampled = isinstance(got, Tensor) and got.ndim >= 2
            if not self.sampled:
                self.store["spiking", self.part.name, batch] = got
                continue
            self.samples.add_float(wanted)
            self._keep(batch, got)
            if ridge is not None and arrived[1].shape == got.shape:
                ridge.add(arrived[0], wanted - got)
            arrived.clear()
        if hook is not None:
            hook.remove()
        return ridge

    def _keep(self, batch: int, got: Tensor) -> None:
        if not bool(got.isfinite().all()):
            where = self.part.neuron or self.part.name
            raise PascalError(f"{where}: got NaN or infinite values, expected finite ones; look at images and weights")
        self.samples.add_spiking(batch, got)
        self.store["spiking", self.part.name, batch] = got

    def _run(self, network: nn.Module, which: str, batch: int) -> Any:
        keys = [(which, name, batch) for name in self.part.reads]
        return self.part.run(network, {key[1]: self.store[key] for key in keys if key in self.store})

    def _neuron(self) -> QCFS | None:
        return self.network.get_submodule(self.part.neuron) if self.part.neuron else None  # type: ignore[return-value]

    def _error(self) -> float:
        neuron = self._neuron()
        if neuron is not None:
            return neuron_error(neuron, self.samples)
        return relative_error(self.samples.arriving, self.samples.wanted)

    def _finish(self) -> None:
        """Activations in the place of preactivations; what nobody needs any more is dropped."""
        neuron, name = self._neuron(), self.part.name
        for batch in range(self.batches):
            if neuron is not None:
                wanted, got = self.store["float", name, batch], self.store["spiking", name, batch]
                self.store["float", name, batch] = rectified(wanted, neuron.clip)
                self.store["spiking", name, batch] = neuron(got)
            for expired in self.part.expired:
                self.store.drop(("float", expired, batch))
                self.store.drop(("spiking", expired, batch))


def _best(
    network: nn.Module, images: list[Tensor], percentile: float, seed: int, bar: bool, began: float
) -> Calibration:
    """Every method on four fifths of the images; the best on the others."""
    held = [batch[::HELD_OUT] for batch in images]
    fitted = [batch[torch.arange(len(batch), device=batch.device) % HELD_OUT != 0] for batch in images]
    fitted = [batch for batch in fitted if len(batch)]
    reference, found = float_twin(network), {}
    for method in METHODS:
        trial = copy.deepcopy(network)
        layers = _fit(trial, fitted, method, percentile, seed, bar)
        found[method] = (_divergence(reference, trial, held), trial, layers)
    best = min(found, key=lambda method: found[method][0])
    tried = {method: value for method, (value, _, _) in found.items()}
    _, trial, layers = found[best]
    count = sum(map(len, images))
    return Calibration(trial.requires_grad_(True), best, count, process_time() - began, layers, tried)


@torch.no_grad()
def _divergence(reference: nn.Module, network: nn.Module, batches: list[Tensor]) -> float:
    """Mean KL(p of the float network ‖ p) of the outputs as class probabilities."""
    total = 0.0
    for images in batches:
        wanted, got = (model(images).double().flatten(1).log_softmax(1) for model in (reference, network))
        total += float(nn.functional.kl_div(got, wanted, log_target=True, reduction="sum"))
    return total / sum(map(len, batches))
