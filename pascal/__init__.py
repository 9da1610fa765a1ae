"""PASCAL: exact conversion of QCFS networks into spiking ones, with the proof, the cost and the audit."""

from pascal.adapt import al_metric, assign_levels
from pascal.energy import effective_timesteps, normalised_timesteps
from pascal.errors import PascalError
from pascal.graph import Verification, convert, get_levels, measure, quantize, set_levels, verify
from pascal.hardware import simulate
from pascal.networks import build_network
from pascal.neurons import QCFS, if_spikes, pasc_spikes, qcfs_count
from pascal.workload import LayerWorkload

__all__ = [
    "QCFS",
    "LayerWorkload",
    "PascalError",
    "Verification",
    "al_metric",
    "assign_levels",
    "build_network",
    "convert",
    "effective_timesteps",
    "get_levels",
    "if_spikes",
    "measure",
    "normalised_timesteps",
    "pasc_spikes",
    "qcfs_count",
    "quantize",
    "set_levels",
    "simulate",
    "verify",
]
