"""Models in, models out: quantise, convert, verify, measure. The only home of torch.fx."""

from pascal.graph.certificate import Verification
from pascal.graph.convert import convert
from pascal.graph.inspect import inspect
from pascal.graph.inspection import Inspection
from pascal.graph.levels import get_levels, qcfs_layers, set_levels
from pascal.graph.measure import layer_shapes, measure
from pascal.graph.network import SpikingNetwork
from pascal.graph.quantize import quantize
from pascal.graph.saving import load, save
from pascal.graph.verify import verify

__all__ = [
    "Inspection",
    "SpikingNetwork",
    "Verification",
    "convert",
    "get_levels",
    "inspect",
    "layer_shapes",
    "load",
    "measure",
    "qcfs_layers",
    "quantize",
    "save",
    "set_levels",
    "verify",
]
