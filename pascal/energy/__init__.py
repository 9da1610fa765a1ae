"""Workload to joules: Section 4.2 and Appendices A.4 to A.9 of the paper."""

from pascal.energy.activity import Activity, layer_activity, timestep_activity
from pascal.energy.costs import FP32, INT8, EnergyCosts
from pascal.energy.model import LayerEnergy, ann_energy, energy_overhead, snn_energy, total_pj
from pascal.energy.operations import ann_operations, neuron_operations, snn_operations
from pascal.energy.ratios import (
    ann_snn_ratio,
    energy_ratio,
    first_layer_share,
    layer_energy_ratios,
    mean_spikes_per_neuron,
    mean_synaptic_operations,
    network_energy_ratio,
    operation_ratio,
    synaptic_ratio,
    total_macs,
)
from pascal.energy.sensitivity import Assumption, sensitivity
from pascal.energy.tables import energy_rows, energy_summary, layer_table, ratio_table
from pascal.energy.timesteps import effective_timesteps, normalised_timesteps, sequential_latency, total_timesteps

__all__ = [
    "FP32",
    "INT8",
    "Activity",
    "Assumption",
    "EnergyCosts",
    "LayerEnergy",
    "ann_energy",
    "ann_operations",
    "ann_snn_ratio",
    "effective_timesteps",
    "energy_overhead",
    "energy_ratio",
    "energy_rows",
    "energy_summary",
    "first_layer_share",
    "layer_activity",
    "layer_energy_ratios",
    "layer_table",
    "mean_spikes_per_neuron",
    "mean_synaptic_operations",
    "network_energy_ratio",
    "neuron_operations",
    "normalised_timesteps",
    "operation_ratio",
    "ratio_table",
    "sensitivity",
    "sequential_latency",
    "snn_energy",
    "snn_operations",
    "synaptic_ratio",
    "timestep_activity",
    "total_macs",
    "total_pj",
    "total_timesteps",
]
