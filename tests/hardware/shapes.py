"""A small network with random spikes, for tests without a trained one."""

import numpy as np

from pascal.hardware import Trace, layer_trace, network_trace
from pascal.workload import LayerWorkload


def small_trace(images: int = 2, words: bool = False, seed: int = 0) -> Trace:
    """Four layers with residual addition, stride and padding, and random spikes; INT8 weights, a third of them zero."""
    rng = np.random.default_rng(seed)
    shape = {"kernel": (3, 3), "padding": (1, 1), "dilation": (1, 1)}
    stem = LayerWorkload(
        "stem", "conv", (3, 8, 8), (8, 8, 8), stride=(1, 1), macs=27 * 512, fan_in=27, activation="a",
        levels=4, neurons=512, **shape,
    )  # fmt: skip
    block = LayerWorkload(
        "block", "conv", (8, 8, 8), (16, 4, 4), stride=(2, 2), macs=72 * 256, fan_in=72, producers=("a",),
        producer_levels=4, activation="b", levels=4, neurons=256, additions=256, **shape,
    )  # fmt: skip
    last = LayerWorkload(
        "last", "conv", (16, 4, 4), (16, 4, 4), stride=(1, 1), macs=144 * 256, fan_in=144, producers=("b",),
        producer_levels=4, activation="c", levels=4, neurons=256, **shape,
    )  # fmt: skip
    fc = LayerWorkload("fc", "linear", (256,), (10,), macs=2560, fan_in=256, producers=("c",), producer_levels=4)
    layers = []
    for workload in (stem, block, last, fc):
        weights = rng.integers(-1, 2, (workload.output_shape[0], workload.input_shape[0], *workload.kernel))
        spikes = rng.integers(0, 16 if words else 5, (images, *workload.input_shape))
        spikes = (spikes * (rng.random(spikes.shape) < 0.4)).astype(np.uint8)
        active = rng.integers(0, workload.neurons + 1, images)
        spikes_or_pixels = None if workload.is_input else spikes
        layers.append(
            layer_trace(workload, weights.astype(np.int8), spikes_or_pixels, active, timesteps=4 if words else None)
        )
    return network_trace(layers)
