"""What each printed quantity of the paper is by the paper's own equations, and by the authors' ratio lists."""

from collections.abc import Callable, Sequence
from statistics import fmean

from pascal.audit.claims import AUTHORS_FAN_INS, Claim
from pascal.energy.costs import FP32, INT8, EnergyCosts
from pascal.energy.layers import spiking_layers
from pascal.energy.operations import NeuronOperations, neuron_operations
from pascal.energy.ratios import ann_snn_ratio, energy_ratio, first_layer_share, network_energy_ratio, total_macs
from pascal.energy.timesteps import effective_timesteps, normalised_timesteps
from pascal.workload import LayerWorkload

Network = Sequence[LayerWorkload]


def equation(claim: Claim, network: Network) -> float:
    """The value of a claim's quantity from its network's layer shapes."""
    return _EQUATIONS[claim.quantity](claim, network)


def from_authors_list(claim: Claim) -> float:
    """T from the hand-typed list that the claim was computed from: mean of r_E · L over as many layers as it has."""
    fan_ins = AUTHORS_FAN_INS[claim.fan_ins]
    levels = claim.levels * len(fan_ins) if len(claim.levels) == 1 else claim.levels
    kept = zip(fan_ins, levels, strict=False)  # the mistake that explains the reported number
    return fmean(energy_ratio(fan_in, level, 0.75) * level for fan_in, level in kept)


def _pasc(claim: Claim) -> NeuronOperations:
    return neuron_operations(claim.levels[0], claim.levels[-1])


def _printed_ratio(claim: Claim, costs: EnergyCosts) -> float:
    snn_operations, share = claim.inputs
    return ann_snn_ratio(snn_operations, share, costs)


_EQUATIONS: dict[str, Callable[[Claim, Network], float]] = {
    "MACs": lambda _, network: total_macs(network),
    "layer-1 share": lambda _, network: first_layer_share(network),
    "QCFS layers": lambda _, network: len(spiking_layers(network)),
    "ratios averaged": lambda _, network: len(spiking_layers(network)),
    "Energy_ANN/Energy_SNN FP32": lambda claim, _: _printed_ratio(claim, FP32),
    "Energy_ANN/Energy_SNN INT8": lambda claim, _: _printed_ratio(claim, INT8),
    "FP32 add pJ": lambda *_: FP32.add_pj,
    "FP32 mul pJ": lambda *_: FP32.multiply_pj,
    "FP32 MAC pJ": lambda *_: FP32.mac_pj(),
    "INT8 add pJ": lambda *_: INT8.add_pj,
    "INT8 mul pJ": lambda *_: INT8.multiply_pj,
    "INT8 MAC pJ": lambda *_: INT8.mac_pj(),
    "PASC resets per neuron": lambda claim, _: _pasc(claim).resets,
    "PASC counter updates per neuron": lambda claim, _: _pasc(claim).counter_updates,
    "PASC operations per neuron": lambda claim, _: _pasc(claim).total,
    "IF operations per neuron": lambda claim, _: neuron_operations(claim.levels[0], claim.levels[-1], "if").total,
    "largest count after phase 2": lambda claim, _: _pasc(claim).counter_updates,  # each update may count one up
    "network r_E": lambda claim, network: network_energy_ratio(network, claim.layer_levels),
    "T_norm": lambda claim, network: normalised_timesteps(network, claim.layer_levels),
    "T_norm of 74.31 %": lambda claim, network: normalised_timesteps(network, claim.layer_levels),
    "T_eff": lambda claim, network: effective_timesteps(network, claim.layer_levels),
    "QCFS accuracy % at T=16": lambda claim, _: claim.inputs[0],
    "fewer timesteps ×": lambda claim, _: claim.inputs[0] / claim.inputs[1],
}
