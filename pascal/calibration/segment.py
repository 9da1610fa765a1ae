"""One segment of a network and of its float twin, on all images: correct the weights, choose the thresholds."""

from typing import Any

import torch
from torch import Tensor, nn

from pascal.calibration.layer import Samples, fit_threshold, neuron_error, rectified, relative_error
from pascal.calibration.records import LayerCalibration
from pascal.calibration.ridge import Ridge
from pascal.calibration.store import Store
from pascal.errors import PascalError
from pascal.graph.segments import Part
from pascal.neurons import QCFS


class Segment:
    """What lies between two neurons, and the stored values on both sides of it."""

    def __init__(
        self, part: Part, network: nn.Module, reference: nn.Module, store: Store, batches: int, generator: Any
    ) -> None:
        self.part, self.network, self.reference, self.store = part, network, reference, store
        self.batches, self.generator = batches, generator
        self.samples = Samples(batches, generator)
        self.sampled = True  # unless the segment hands on several tensors

    def fit(self, method: str, percentile: float) -> LayerCalibration | None:
        """Correct the segment's layer, choose the activation's thresholds, store what comes out."""
        ridge, notes = self._watch(method), []
        if not self.sampled:
            self._finish()
            return None
        before = self._error()
        correction = "none"
        if ridge is not None and ridge.columns:
            notes.append(ridge.apply())
            correction = "bias" if notes[0] else "ridge"
            for batch in range(self.batches):
                self._keep(batch, self._run(self.network, "spiking", batch))
        neuron = self._neuron()
        if neuron is not None:
            notes.append(fit_threshold(self.network, neuron, self.samples, method, percentile))
        after = self._error()
        self._finish()
        path = self.part.neuron or ("readout" if self.part.is_readout else self.part.name)
        return LayerCalibration(path, correction, before, after, "; ".join(filter(None, notes)))

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
            self.sampled = isinstance(got, Tensor) and got.ndim >= 2
            self.store["float", self.part.name, batch] = self._activated(wanted) if self.sampled else wanted
            if not self.sampled:
                self.store["spiking", self.part.name, batch] = got
                continue
            self.samples.add_float(wanted)
            self._keep(batch, got)
            if ridge is not None and arrived[1].shape == got.shape:
                ridge.add(arrived[0], self._missing(wanted, got))
            arrived.clear()
        if hook is not None:
            hook.remove()
        return ridge

    def _missing(self, wanted: Tensor, got: Tensor) -> Tensor:
        """What the layer's output lacks. Where the float network is silent any value up to 0 will do, and beyond the
        clip any above it: the weights then serve the values that reach the next layer."""
        neuron = self._neuron()
        if neuron is None:
            return wanted - got
        enough = torch.where(wanted > 0, wanted, got.clamp_max(0))
        return (enough if neuron.clip is None else enough.where(wanted < neuron.clip, got.clamp_min(neuron.clip))) - got

    def _activated(self, wanted: Tensor) -> Tensor:
        """What the float network's activation makes of it."""
        neuron = self._neuron()
        return wanted if neuron is None else rectified(wanted, neuron.clip)

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
                self.store["spiking", name, batch] = neuron(self.store["spiking", name, batch])
            for expired in self.part.expired:
                self.store.drop(("float", expired, batch))
                self.store.drop(("spiking", expired, batch))
