"""ResNet-18, -20 and -34 with QCFS activations: one after the stem, two in each basic block.

Shortcuts project where the shape changes, or take every second pixel and add channels of zeros (option A of the first
ResNets for CIFAR), which costs no weights.
"""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional as F

from pascal.networks.blocks import convolution, initialise, pool2d, scaled
from pascal.neurons import QCFS

IMAGENET_STEM_FROM = 128  # image side from which the 7×7 stem with pooling is used


class BasicBlock(nn.Module):
    """act2(bn2(conv2(act1(bn1(conv1(x))))) + shortcut(x)); the shortcut changes the shape where the block does.

    Shape: (N, inputs, H, W) → (N, outputs, H/stride, W/stride).
    """

    def __init__(self, inputs: int, outputs: int, stride: int, padded: bool = False) -> None:
        super().__init__()
        self.conv1 = convolution(inputs, outputs, 3, stride)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.act1 = QCFS()
        self.conv2 = convolution(outputs, outputs, 3)
        self.bn2 = nn.BatchNorm2d(outputs)
        changes = stride != 1 or inputs != outputs
        make = PaddedShortcut if padded else _projection
        self.shortcut = make(inputs, outputs, stride) if changes else nn.Identity()
        self.act2 = QCFS()

    def forward(self, x: Tensor) -> Tensor:
        residual = self.bn2(self.conv2(self.act1(self.bn1(self.conv1(x)))))
        return self.act2(residual + self.shortcut(x))


class PaddedShortcut(nn.Module):
    """Every `stride`-th pixel, with channels of zeros around those that there are."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        before = (outputs - inputs) // 2
        self.stride, self.channels = stride, (before, outputs - inputs - before)

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, *self.channels))


def _projection(inputs: int, outputs: int, stride: int) -> nn.Module:
    return nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))


class ResNet(nn.Module):
    """A stem, stages of basic blocks, global average pooling, one fully connected layer.

    Shape: (N, 3, H, W) → (N, classes).
    """

    def __init__(
        self,
        blocks: Sequence[int],
        channels: Sequence[int],
        classes: int = 10,
        image_size: int = 32,
        width: float = 1.0,
        pool: str = "max",
        padded: bool = False,
    ) -> None:
        super().__init__()
        widths = [scaled(base, width) for base in channels]
        self.stem = _imagenet_stem(widths[0], pool) if image_size >= IMAGENET_STEM_FROM else _cifar_stem(widths[0])
        inputs = widths[0]
        for stage, (count, outputs) in enumerate(zip(blocks, widths, strict=True), start=1):
            strides = [1 if stage == 1 else 2] + [1] * (count - 1)
            stage_blocks = [
                BasicBlock(inputs if n == 0 else outputs, outputs, stride, padded) for n, stride in enumerate(strides)
            ]
            self.add_module(f"layer{stage}", nn.Sequential(*stage_blocks))
            inputs = outputs
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(inputs, classes)
        self._stages = [f"layer{stage}" for stage in range(1, len(widths) + 1)]
        initialise(self)

    def forward(self, images: Tensor) -> Tensor:
        x = self.stem(images)
        for stage in self._stages:
            x = self.get_submodule(stage)(x)
        return self.fc(self.flatten(self.pool(x)))


def _cifar_stem(channels: int) -> nn.Sequential:
    stem = nn.Sequential()
    stem.add_module("conv", convolution(3, channels, 3))
    stem.add_module("bn", nn.BatchNorm2d(channels))
    stem.add_module("act", QCFS())
    return stem


def _imagenet_stem(channels: int, pool: str) -> nn.Sequential:
    stem = nn.Sequential()
    stem.add_module("conv", convolution(3, channels, 7, 2))
    stem.add_module("bn", nn.BatchNorm2d(channels))
    stem.add_module("act", QCFS())
    stem.add_module("pool", pool2d(pool, 3, 2, 1))
    return stem
