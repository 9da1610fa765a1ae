from .adapt import al_metric, assign_levels
from .energy import effective_timesteps, normalised_timesteps
from .errors import PascalError
from .graph import Verification, convert, get_levels, measure, quantize, set_levels, verify
from .hardware import simulate
from .networks import build_network
from .neurons import QCFS, if_spikes, pasc_spikes, qcfs_count
from .workload import LayerWorkload

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
