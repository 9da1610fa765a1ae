"""Models in, models out: quantise, convert, verify, measure. The only home of torch.fx."""

from pascal.graph.certificate import Verification
from pascal.graph.convert import convert
from pascal.graph.levels import get_levels, qcfs_layers, set_levels
from pascal.graph.measure import layer_shapes, measure
from pascal.graph.network import SpikingNetwork
from pascal.graph.quantize import quantize
from pascal.graph.saving import load, save
from pascal.graph.verify import verify

__all__ = [
    "SpikingNetwork",
    "Verification",
    "convert",
    "get_levels",
    "layer_shapes",
    "load",
    "measure",
    "qcfs_layers",
    "quantize",
    "save",
    "set_levels",
    "verify",
]
