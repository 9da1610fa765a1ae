"""Where masks come from: a trace of real images, or random draws at the densities of workloads."""

from collections.abc import Iterable
from typing import Protocol

from pascal.checks import check_number, check_whole
from pascal.errors import PascalError
from pascal.hardware.geometry import geometry_of
from pascal.hardware.lowering import Activations, Filters, Lowering, lower_activations, lower_filters
from pascal.hardware.synthetic import SyntheticSource
from pascal.hardware.trace import Trace
from pascal.workload import LayerWorkload


class Source(Protocol):
    """Where masks come from."""

    synthetic: bool
    images: int
    workloads: tuple[LayerWorkload, ...]

    def filters(self, layer: int, lowering: Lowering) -> Filters: ...

    def activations(self, layer: int, image: int, lowering: Lowering) -> Activations: ...

    def check_neuron(self, neuron: str) -> None: ...


class TraceSource:
    """Masks of recorded images, the first `images` of them."""

    synthetic = False

    def __init__(self, trace: Trace, images: int | None = None) -> None:
        if images is not None and not 1 <= images <= trace.images:
            raise PascalError(f"images: got {images}, expected 1 to the trace's {trace.images}")
        self.trace = trace
        self.images = images or trace.images
        self.workloads = trace.workloads

    def filters(self, layer: int, lowering: Lowering) -> Filters:
        """Weight masks of one layer."""
        return lower_filters(self.trace.layers[layer], lowering)

    def activations(self, layer: int, image: int, lowering: Lowering) -> Activations:
        """Activation masks of one layer and image."""
        return lower_activations(self.trace.layers[layer], image, lowering)

    def check_neuron(self, neuron: str) -> None:
        """Refuse a neuron other than the one whose spikes were recorded; QCFS has PASC's counts."""
        if (neuron == "if") != (self.trace.neuron == "if"):
            raise PascalError(
                f"neuron {neuron!r} cannot run on a trace of {self.trace.neuron!r}, whose silent neurons are others; "
                "record a trace of its own"
            )


def make_source(
    workloads_or_trace: Trace | Iterable[LayerWorkload],
    images: int | None = None,
    weight_density: float = 1.0,
    seed: int = 0,
) -> Source:
    """A trace's masks, or random ones at the densities of the workloads."""
    if isinstance(workloads_or_trace, Trace):
        return TraceSource(workloads_or_trace, images)
    if images is not None:
        check_whole(images, "images")
    workloads = tuple(workloads_or_trace) if isinstance(workloads_or_trace, Iterable) else (workloads_or_trace,)
    for workload in workloads:
        if not isinstance(workload, LayerWorkload):
            expected = "the layers that pascal.measure gives, or a trace that pascal.hardware.load_trace reads"
            raise PascalError(f"workloads_or_trace: got {workload!r}, expected {expected}")
        if workload.kind == "conv" and len(workload.kernel) == 2:
            geometry_of(workload, workload.input_shape)  # of the first layer too, which no machine simulates
    check_number(weight_density, "weight_density")
    return SyntheticSource(workloads, weight_density, seed, 1 if images is None else images)
