"""The paper's networks as layer shapes, written from their published definitions and not from this package's code."""

from dataclasses import replace
from math import prod

from pascal.workload import LayerWorkload


def conv(path, channels, size, kernel, stride=1, producers=("input",), activation=None, owns=True, levels=4):
    """A padded square convolution on a square image."""
    (c_i, c_o), (s_i, s_o) = channels, (size, size // stride)
    return LayerWorkload(
        path=path, kind="conv", input_shape=(c_i, s_i, s_i), output_shape=(c_o, s_o, s_o), kernel=(kernel, kernel),
        stride=(stride, stride), padding=(kernel // 2, kernel // 2), dilation=(1, 1),
        macs=c_i * kernel * kernel * c_o * s_o * s_o, fan_in=c_i * kernel * kernel,
        **edges(producers, activation, levels), neurons=c_o * s_o * s_o if owns else 0,
    )  # fmt: skip


def linear(path, c_i, c_o, producers, activation=None, levels=4):
    """A fully connected layer."""
    return LayerWorkload(
        path=path, kind="linear", input_shape=(c_i,), output_shape=(c_o,), macs=c_i * c_o, fan_in=c_i,
        **edges(producers, activation, levels), neurons=c_o if activation else 0,
    )  # fmt: skip


def edges(producers, activation, levels):
    """Producers and activation of a layer in a network with uniform levels; "input" stands for pixels."""
    spiking = tuple(name for name in producers if name != "input")
    return {
        "producers": spiking,
        "producer_levels": levels if spiking else None,
        "activation": activation,
        "levels": levels if activation else None,
    }


def vgg16(classes, size, levels=4):
    """Thirteen convolutions in five blocks, each followed by max pooling, and three fully connected layers."""
    layers, channels, source = [], 3, "input"
    for block, (width, depth) in enumerate([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)], start=1):
        for number in range(1, depth + 1):
            name = f"{block}_{number}"
            layers.append(conv(f"conv{name}", (channels, width), size, 3, 1, (source,), f"act{name}", levels=levels))
            channels, source = width, f"act{name}"
        size //= 2
    features = channels * size * size
    for number in (1, 2):
        layers.append(linear(f"fc{number}", features, 4096, (source,), f"fact{number}", levels))
        features, source = 4096, f"fact{number}"
    return [*layers, linear("fc3", features, classes, (source,), None, levels)]


def resnet(depths, classes, size, large_stem, levels=4):
    """Basic blocks; a 1×1 projection where the shape changes; a 7×7 stem with pooling, or a 3×3 one."""
    stem = conv(
        "stem", (3, 64), size, 7 if large_stem else 3, 2 if large_stem else 1, ("input",), "stem.act", True, levels
    )
    size //= 4 if large_stem else 1
    layers, channels, source = [stem], 64, "stem.act"
    for stage, depth in enumerate(depths):
        width = 64 * 2**stage
        for number in range(depth):
            block, stride = f"{stage + 1}.{number + 1}", 2 if stage and not number else 1
            inner, outer = f"{block}.act1", f"{block}.act2"
            first = conv(f"{block}.conv1", (channels, width), size, 3, stride, (source,), inner, levels=levels)
            second = conv(f"{block}.conv2", (width, width), size // stride, 3, 1, (inner,), outer, levels=levels)
            layers += [first, replace(second, additions=second.neurons, arrivals=(inner, source))]
            if stride > 1:
                layers.append(conv(f"{block}.shortcut", (channels, width), size, 1, 2, (source,), outer, False, levels))
            channels, source, size = width, outer, size // stride
    return [*layers, linear("fc", channels, classes, (source,), None, levels)]


def audit_networks():
    """All six networks of the paper's tables."""
    return {
        "vgg16-cifar10": vgg16(10, 32),
        "vgg16-cifar100": vgg16(100, 32),
        "vgg16-imagenet": vgg16(1000, 224),
        "resnet18-cifar10": resnet((2, 2, 2, 2), 10, 32, False),
        "resnet18-cifar100": resnet((2, 2, 2, 2), 100, 32, False),
        "resnet34-imagenet": resnet((3, 4, 6, 3), 1000, 224, True),
    }


def spiking(workloads, rate=0.5, silent=0.75):
    """The workloads as if each neuron fired `rate` times, a share of them never: every MAC equally often."""
    return [
        replace(
            workload,
            spikes_per_neuron=rate if workload.activation else None,
            producer_spikes_per_neuron=None if workload.is_input else rate,
            synaptic_operations=None if workload.is_input else workload.macs * rate,
            nonzero_macs=float(workload.macs) if workload.is_input else workload.macs * (1 - silent),
        )
        for workload in workloads
    ]


def outputs(workload):
    """C_o · H_o · W_o."""
    return prod(workload.output_shape)
