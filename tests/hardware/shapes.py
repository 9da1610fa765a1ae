"""Shapes of full-width networks, with uniform densities, for tests and benchmarks without a trained network."""

import numpy as np

from pascal.hardware import Trace, layer_trace, network_trace
from pascal.workload import LayerWorkload

_CIFAR_PLAN = [(64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512)]


def vgg16_workloads(density: float = 0.25, levels: int = 4, mean_count: float = 2.0) -> list[LayerWorkload]:
    """VGG-16 for 32×32 images with max pooling: 13 convolutions, 4096-4096-10; 332,111,872 MACs."""
    layers: list[LayerWorkload] = []
    channels, size = 3, 32
    for block in _CIFAR_PLAN:
        for width in block:
            layers.append(_layer(len(layers), (channels, size, size), (width, size, size), density, levels, mean_count))
            channels = width
        size //= 2
    for width in (4096, 4096, 10):
        layers.append(_layer(len(layers), (channels,), (width,), density, levels, mean_count))
        channels = width
    return layers


def _layer(
    number: int, inputs: tuple[int, ...], outputs: tuple[int, ...], density: float, levels: int, mean_count: float
) -> LayerWorkload:
    conv = len(inputs) == 3
    fan_in = inputs[0] * (9 if conv else 1)
    neurons = outputs[0] * (outputs[1] * outputs[2] if conv else 1)
    readout = number == 15
    return LayerWorkload(
        path=f"layer{number}",
        kind="conv" if conv else "linear",
        input_shape=inputs,
        output_shape=outputs,
        kernel=(3, 3) if conv else (),
        stride=(1, 1) if conv else (),
        padding=(1, 1) if conv else (),
        dilation=(1, 1) if conv else (),
        macs=fan_in * neurons,
        fan_in=fan_in,
        producers=(f"act{number - 1}",) if number else (),
        producer_levels=levels if number else None,
        nonzero_macs=density * fan_in * neurons if number else None,
        synaptic_operations=mean_count * density * fan_in * neurons if number else None,
        activation=None if readout else f"act{number}",
        levels=None if readout else levels,
        neurons=0 if readout else neurons,
        spikes_per_neuron=None if readout else mean_count * density,
    )


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
