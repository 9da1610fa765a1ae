"""Hardware: cycles and joules of LoAS with plain IF or PASC neurons, and of SparTen with QCFS."""

from pascal.accelerators.accelerator import Accelerator, accelerator_from_params
from pascal.hardware.compare import compare_machines
from pascal.hardware.intervals import mean_interval, ratio_interval
from pascal.hardware.prune import prune_trace, prune_weights
from pascal.hardware.result import Simulation
from pascal.hardware.sensitivity import sensitivity
from pascal.hardware.simulate import simulate
from pascal.hardware.trace import LayerTrace, Trace, check_trace, layer_trace, network_trace
from pascal.hardware.trace_file import load_trace, save_trace

__all__ = [
    "Accelerator",
    "LayerTrace",
    "Simulation",
    "Trace",
    "accelerator_from_params",
    "check_trace",
    "compare_machines",
    "layer_trace",
    "load_trace",
    "mean_interval",
    "network_trace",
    "prune_trace",
    "prune_weights",
    "ratio_interval",
    "save_trace",
    "sensitivity",
    "simulate",
]
