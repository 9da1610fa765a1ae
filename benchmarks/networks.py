"""Networks and shapes for measurements without a trained network."""

import torch
from torch import Tensor, nn

import pascal
from pascal import QCFS
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


def lively(model: nn.Module, images: Tensor, levels: list[int]) -> nn.Module:
    """The model with those levels and thresholds fitted to these images, in evaluation mode."""
    model = model.to(images.dtype).eval()
    pascal.set_levels(model, levels)

    def fit(qcfs: QCFS, inputs: tuple[Tensor, ...]) -> None:
        qcfs.threshold = float(inputs[0].std() * 2) + 1e-3

    hooks = [m.register_forward_pre_hook(fit) for m in model.modules() if isinstance(m, QCFS)]  # type: ignore[arg-type]
    with torch.no_grad():
        model(images)
    for hook in hooks:
        hook.remove()
    return model
