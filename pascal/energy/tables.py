"""Flat rows for tables and files: layers of the appendix, energy by layer and component, and a network's summary."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pascal.energy.costs import EnergyCosts
from pascal.energy.layers import check_workloads, levels_by_activation, neuron_layers
from pascal.energy.model import LayerEnergy, ann_energy, snn_energy, total_pj
from pascal.energy.ratios import (
    ann_snn_ratio,
    first_layer_share,
    layer_energy_ratios,
    layer_rates,
    mean_spikes_per_neuron,
    mean_synaptic_operations,
    network_energy_ratio,
    operation_ratio,
    synaptic_ratio,
    total_macs,
)
from pascal.energy.timesteps import effective_timesteps, normalised_timesteps, sequential_latency, total_timesteps
from pascal.workload import LayerWorkload

Row = dict[str, Any]


def layer_table(workloads: Sequence[LayerWorkload]) -> list[Row]:
    """The appendix' table of a network: layer, input size, output size and MACs, with their total."""
    rows = [
        {
            "layer": workload.path,
            "kind": workload.kind,
            "input_size": "×".join(map(str, workload.input_shape)),
            "output_size": "×".join(map(str, workload.output_shape)),
            "kernel": "×".join(map(str, workload.kernel)),
            "macs": workload.macs,
        }
        for workload in check_workloads(workloads)
    ]
    return [*rows, dict.fromkeys(rows[0], "") | {"layer": "total", "macs": total_macs(workloads)}]


def ratio_table(workloads: Sequence[LayerWorkload], spikes_per_neuron: float | str | None = 0.75) -> list[Row]:
    """L_{n−1}, L_n, fan-in, SpikeRate, r' and both kinds of r_E of each activation."""
    layers = neuron_layers(workloads)
    formula = layer_energy_ratios(workloads, None, spikes_per_neuron)
    counted = layer_energy_ratios(workloads, None, spikes_per_neuron, counted=True)
    return [
        {
            "activation": layer.activation,
            "timesteps": layer.timesteps,
            "levels": layer.levels,
            "fan_in": layer.fan_in,
            "spikes_per_neuron": rate,
            "operation_ratio": operation_ratio(layer.fan_in, rate),
            "energy_ratio": formula[layer.activation],
            "energy_ratio_counted": counted[layer.activation],
        }
        for layer, rate in zip(layers, layer_rates(layers, spikes_per_neuron), strict=True)
    ]


def networks_compared(workloads: Sequence[LayerWorkload], costs: EnergyCosts) -> dict[str, list[LayerEnergy]]:
    """Energy of both SNNs and of the ANN in each of its guises, with memory as a component of its own."""
    return {
        "SNN PASC": snn_energy(workloads, costs, "pasc", memory=True),
        "SNN IF": snn_energy(workloads, costs, "if", memory=True),
        "ANN": ann_energy(workloads, costs, memory=True),
        "ANN zero-skipping": ann_energy(workloads, costs, skip_zeros=True, memory=True),
        "ANN low-bit": ann_energy(workloads, costs, low_bits=True, memory=True),
        "ANN zero-skipping low-bit": ann_energy(workloads, costs, skip_zeros=True, low_bits=True, memory=True),
    }


def energy_rows(workloads: Sequence[LayerWorkload], costs: Mapping[str, EnergyCosts]) -> list[Row]:
    """Energy per image by arithmetic, network, layer and component."""
    return [
        {"costs": name, "network": network, **asdict(layer), "total_pj": layer.total_pj}
        for name, prices in costs.items()
        for network, energies in networks_compared(workloads, prices).items()
        for layer in energies
    ]


def energy_summary(workloads: Sequence[LayerWorkload], costs: Mapping[str, EnergyCosts]) -> dict[str, float]:
    """Every figure of Section 4.2 for one measured network: timesteps, spikes, and ratios under each arithmetic."""
    b, c = mean_spikes_per_neuron(workloads), first_layer_share(workloads)
    summary = _timesteps(workloads) | {
        "spikes_per_neuron": b,
        "synaptic_operations_per_mac": mean_synaptic_operations(workloads),
        "first_layer_share": c,
        "energy_ratio_formula": network_energy_ratio(workloads),
    }
    for name, prices in costs.items():
        summary |= {
            f"ann_snn_ratio_paper_{name}": ann_snn_ratio(b, c, prices),
            f"ann_snn_ratio_exact_{name}": synaptic_ratio(workloads, prices),
            f"energy_ratio_{name}": _overhead(workloads, prices),
            f"snn_uj_{name}": total_pj(snn_energy(workloads, prices, "pasc", memory=True)) / 1e6,
            f"ann_uj_{name}": total_pj(ann_energy(workloads, prices, memory=True)) / 1e6,
        }
    return summary


def _timesteps(workloads: Sequence[LayerWorkload]) -> dict[str, float]:
    uniform = len(set(levels_by_activation(workloads).values())) == 1
    return ({"t_norm": normalised_timesteps(workloads)} if uniform else {}) | {
        "t_eff": effective_timesteps(workloads),
        "t_eff_measured": effective_timesteps(workloads, spikes_per_neuron=None),
        "t_eff_counted": effective_timesteps(workloads, counted=True),
        "t_total": total_timesteps(workloads),
        **_latency(workloads),
    }


def _latency(workloads: Sequence[LayerWorkload]) -> dict[str, float]:
    # Neurons that read other neurons without weights between them have no record; then no path can be followed.
    layers = neuron_layers(workloads)
    recorded = {layer.activation for layer in layers}
    if all(layer.producers <= recorded for layer in layers):
        return {"sequential_latency_timesteps": sequential_latency(workloads)}
    return {}


def _overhead(workloads: Sequence[LayerWorkload], costs: EnergyCosts) -> float:
    return total_pj(snn_energy(workloads, costs, "pasc")) / total_pj(snn_energy(workloads, costs, "if"))
