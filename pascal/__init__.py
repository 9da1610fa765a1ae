"""PASCAL: exact conversion of QCFS networks into spiking ones, with the proof, the cost and the audit."""

from pascal.errors import PascalError
from pascal.graph import Verification, convert, get_levels, measure, quantize, set_levels, verify
from pascal.networks import build_network
from pascal.neurons import QCFS, if_spikes, pasc_spikes, qcfs_count
from pascal.workload import LayerWorkload

__all__ = [
    "QCFS",
    "LayerWorkload",
    "PascalError",
    "Verification",
    "build_network",
    "convert",
    "get_levels",
    "if_spikes",
    "measure",
    "pasc_spikes",
    "qcfs_count",
    "quantize",
    "set_levels",
    "verify",
]
