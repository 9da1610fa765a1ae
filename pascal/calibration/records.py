"""What a calibration did, layer by layer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import nn


@dataclass(frozen=True)
class LayerCalibration:
    """One activation, or the readout: how far its values are from the float network's, in parts of their energy.

    `before`: with the weights and thresholds that it came with; `after`: with its own. Upstream is calibrated in both.
    """

    path: str
    correction: str  # "ridge", "bias" or "none"
    before: float
    after: float
    note: str = ""


@dataclass(frozen=True)
class Calibration:
    """A calibrated copy of a network, with batch norms folded, and what it took."""

    ann: nn.Module
    method: str
    images: int
    seconds: float
    layers: tuple[LayerCalibration, ...]
    tried: Mapping[str, float] = field(default_factory=dict)  # of "auto": KL from the float network on held-out images

    def __str__(self) -> str:
        width = max(len(layer.path) for layer in self.layers)
        lines = [f"{self.method}: {self.images:,} images, {self.seconds:.1f} s; error relative to the float network"]
        lines += [f"  {method:10} KL {value:.4f}" for method, value in self.tried.items()]
        for layer in self.layers:
            errors = f"{layer.before:7.4f} → {layer.after:7.4f}"
            lines.append(f"  {layer.path:{width}}  {errors}  {layer.correction} {layer.note}".rstrip())
        return "\n".join(lines)
