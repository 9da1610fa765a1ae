"""The integer engine: INT8 weights, integer thresholds, membranes and biases; exact because integer sums associate."""

from pascal.graph.integer.export import export_network
from pascal.graph.integer.pixels import Pixels
from pascal.graph.integer.snn import IntegerSNN

__all__ = ["IntegerSNN", "Pixels", "export_network"]
