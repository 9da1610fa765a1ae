from . import plot
from .adapt import al_metric, assign_levels
from .baselines import compare
from .calibration import Calibration, calibrate, fine_tune, load_weights
from .costing import Cost, cost
from .energy import effective_timesteps, normalised_timesteps
from .errors import PascalError
from .graph import (
    Inspection,
    SpikingNetwork,
    Verification,
    convert,
    get_levels,
    inspect,
    load,
    measure,
    quantize,
    save,
    set_levels,
    verify,
)
from .hardware import Trace, simulate
from .networks import build_network
from .neurons import QCFS, if_spikes, pasc_spikes, qcfs_count
from .planning import LevelPlan, level_front, plan_levels
from .recording import record
from .workload import LayerWorkload

__all__ = [
    "QCFS",
    "Calibration",
    "Cost",
    "Inspection",
    "LayerWorkload",
    "LevelPlan",
    "PascalError",
    "SpikingNetwork",
    "Trace",
    "Verification",
    "al_metric",
    "assign_levels",
    "build_network",
    "calibrate",
    "compare",
    "convert",
    "cost",
    "effective_timesteps",
    "fine_tune",
    "get_levels",
    "if_spikes",
    "inspect",
    "level_front",
    "load",
    "load_weights",
    "measure",
    "normalised_timesteps",
    "pasc_spikes",
    "plan_levels",
    "plot",
    "qcfs_count",
    "quantize",
    "record",
    "save",
    "set_levels",
    "simulate",
    "verify",
]
