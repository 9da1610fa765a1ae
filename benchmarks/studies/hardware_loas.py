"""LoAS as its authors simulated it: their layers, densities and counts, beside what our machines make of random masks.

`hardware_loas.csv` holds, per layer of the fine-tuned networks, what the authors' logs say or imply (github.com/
RuokaiYin/LoAS, commits ae5c408 and cd635a8): the shape, the non-silent words of the im2col matrix, the weights that are
not zero, and the simulated cycles and matches. Where those spikes and weights lie is not published, so both are drawn.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pascal.hardware import Simulation, accelerator_from_params, layer_trace, network_trace, simulate
from pascal.hardware.energy import dynamic_pj, static_pj
from pascal.workload import LayerWorkload

LAYERS = pd.read_csv(Path(__file__).with_suffix(".csv"))
NETWORKS = ("vgg16", "resnet19", "alexnet")
_TIMESTEPS = 4


class Counts(NamedTuple):
    """What the authors' log of VGG-16 adds up to on one machine."""

    cycles: int
    matches: int
    dram_bytes: int
    sram_bytes: int


LOAS_FT = Counts(481_560, 5_187_330, 5_415_927, 13_524_418)
SPARTEN_SNN = Counts(2_415_640, 17_877_020, 12_036_392, 48_260_420)
SPARTEN_ANN = Counts(1_282_485, 9_876_343, 12_962_125, 34_608_128)


def drawn_layers(network: str, machine: str = "loas", seed: int = 0) -> Iterator[Simulation]:
    """Each layer of a network on `loas32`; SparTen takes one timestep of the spikes, LoAS all four."""
    rng = np.random.default_rng(seed)
    for layer in LAYERS[LAYERS.network == network].itertuples():
        workload = _workload(layer)
        weights = rng.random((layer.filters, layer.channels, layer.kernel, layer.kernel)) < _weight_density(layer)
        spikes = rng.random((1, *workload.input_shape)) < _spike_density(layer, machine)
        if machine == "loas":
            own = layer_trace(workload, weights, spikes.astype(np.uint8), [0], timesteps=_TIMESTEPS)
            yield simulate(network_trace([own]), "loas", "if", "loas32")
        else:
            own = layer_trace(workload, weights, spikes.astype(np.uint8), [0])
            yield simulate(network_trace([own]), "sparten", "qcfs", "loas32")


def zero_shares(network: str) -> tuple[float, float]:
    """Silent words of the im2col matrices, and weights that are zero, in per cent."""
    own = LAYERS[LAYERS.network == network]
    columns = own.channels * own.kernel**2
    words = own.spiking_words.sum() / (columns * (own["size"] // own.stride) ** 2).sum()
    return 100 * (1 - words), 100 * (1 - own.weights.sum() / (columns * own.filters).sum())


def script_energy(machine: str, counts: Counts, **prices: float) -> float:
    """The energy script's sum over the authors' own counts, by the constants of `loas32_script`."""
    accelerator = accelerator_from_params({"base": "loas32_script", **prices}, machine)
    events = {"match": counts.matches, "sram_read_byte": counts.sram_bytes, "dram_bit": 8 * counts.dram_bytes}
    neuron = "if" if machine == "loas" else "qcfs"
    return sum(dynamic_pj(events, accelerator.prices).values()) + static_pj(accelerator, neuron, counts.cycles)


def _workload(layer: Any) -> LayerWorkload:
    columns, neurons = layer.channels * layer.kernel**2, layer.filters * _outputs(layer)
    side = layer.size // layer.stride
    return LayerWorkload(
        path=f"layer{layer.layer}",
        kind="conv",
        input_shape=(layer.channels, layer.size, layer.size),
        output_shape=(layer.filters, side, side),
        kernel=(layer.kernel,) * 2,
        stride=(layer.stride,) * 2,
        padding=(layer.kernel // 2,) * 2,
        dilation=(1, 1),
        macs=columns * neurons,
        fan_in=columns,
        producers=("spikes",),
        producer_levels=_TIMESTEPS,
        activation="neurons",
        levels=_TIMESTEPS,
        neurons=neurons,
    )


def _outputs(layer: Any) -> int:
    return (layer.size // layer.stride) ** 2


def _weight_density(layer: Any) -> float:
    return layer.weights / (layer.channels * layer.kernel**2 * layer.filters)


def _spike_density(layer: Any, machine: str) -> float:
    """On the map itself: the im2col matrix also holds padding, which never spikes.

    The log of SparTen has no spikes, but its matches per timestep are spikes × weights of a column, on average.
    """
    words = layer.spiking_words
    if machine == "sparten":
        words = layer.sparten_matches / _TIMESTEPS * layer.channels * layer.kernel**2 / layer.weights
    side = layer.size // layer.stride
    starts = np.arange(side)[:, None] * layer.stride + np.arange(layer.kernel) - layer.kernel // 2
    inside = ((starts >= 0) & (starts < layer.size)).sum() ** 2
    return words / (layer.channels * inside)
