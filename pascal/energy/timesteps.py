"""How long an inference takes in timesteps: the paper's means, and the sequence that layers really make."""

from collections.abc import Sequence
from math import fsum

from pascal.energy.layers import Levels, levels_by_activation, neuron_layers
from pascal.energy.ratios import Rate, layer_energy_ratios
from pascal.errors import PascalError
from pascal.workload import LayerWorkload


def effective_timesteps(
    workloads: Sequence[LayerWorkload], levels: Levels = None, spikes_per_neuron: Rate = 0.75, counted: bool = False
) -> float:
    """T_eff = mean over layers of r_E · L, by the paper's formula: a layer's own L and its main path's fan-in.

    `counted` takes the operations of each layer's own L_{n−1} and L_n into r_E instead of 5L−2.
    """
    by_activation = levels_by_activation(workloads, levels)
    ratios = layer_energy_ratios(workloads, levels, spikes_per_neuron, counted)
    return fsum(ratios[name] * level for name, level in by_activation.items()) / len(by_activation)


def normalised_timesteps(
    workloads: Sequence[LayerWorkload], levels: Levels = None, spikes_per_neuron: Rate = 0.75
) -> float:
    """T_norm = (mean over layers of r_E) · T, where every layer has L = T."""
    different = sorted(set(levels_by_activation(workloads, levels).values()))
    if len(different) > 1:
        raise PascalError(f"levels: got {different}, but T_norm needs one for all layers; take effective_timesteps")
    return effective_timesteps(workloads, levels, spikes_per_neuron)


def total_timesteps(workloads: Sequence[LayerWorkload], levels: Levels = None) -> int:
    """T_total = Σ L_n: the spike trains of all layers laid end to end."""
    return sum(levels_by_activation(workloads, levels).values())


def sequential_latency(workloads: Sequence[LayerWorkload], levels: Levels = None) -> int:
    """L_1 + Σ_{n≥2} (L_n + max(L_{n−1}, L_n) − 1) along the longest path, in timesteps of neurons.

    PASC is layer-synchronous: phase 1 runs while the producer emits, phases 2 and 3 only after its last spike.
    """
    finished: dict[str, int] = {}
    for layer in neuron_layers(workloads, levels):
        if late := sorted(layer.producers - finished.keys()):
            raise PascalError(
                f"activation {layer.activation!r}: no earlier layer owns {late}; give all in forward order"
            )
        started = max((finished[name] for name in layer.producers), default=0)
        settling = max(layer.timesteps, layer.levels) - 1 if layer.timesteps else 0
        finished[layer.activation] = started + settling + layer.levels
    return max(finished.values())
