"""VGG-16 with QCFS activations: 13 convolutions, 3 fully connected layers, 15 QCFS layers."""

from collections import OrderedDict

from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.networks.blocks import convolution, initialise, pool2d, scaled
from pascal.neurons import QCFS

_STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))  # (channels, convolutions), each followed by pooling


class VGG16(nn.Module):
    """VGG-16 for square images whose side is a multiple of 32 (32: CIFAR head, 224: ImageNet head).

    Shape: (N, 3, image_size, image_size) → (N, classes).
    """

    def __init__(self, classes: int = 10, image_size: int = 32, width: float = 1.0, pool: str = "max") -> None:
        super().__init__()
        if image_size < 32 or image_size % 32:
            raise PascalError(f"image_size: got {image_size}, expected a multiple of 32 for vgg16")
        self.features, channels = _features(width, pool)
        hidden = scaled(4096, width)
        inputs = channels * (image_size // 32) ** 2
        self.classifier = nn.Sequential(
            OrderedDict(
                flatten=nn.Flatten(),
                fc1=nn.Linear(inputs, hidden),
                act1=QCFS(),
                fc2=nn.Linear(hidden, hidden),
                act2=QCFS(),
                fc3=nn.Linear(hidden, classes),
            )
        )
        initialise(self)

    def forward(self, images: Tensor) -> Tensor:
        return self.classifier(self.features(images))


def _features(width: float, pool: str) -> tuple[nn.Sequential, int]:
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    channels = 3
    for stage, (base, convolutions) in enumerate(_STAGES, start=1):
        for number in range(1, convolutions + 1):
            name = f"{stage}_{number}"
            layers[f"conv{name}"] = convolution(channels, scaled(base, width), 3)
            channels = scaled(base, width)
            layers[f"bn{name}"] = nn.BatchNorm2d(channels)
            layers[f"act{name}"] = QCFS()
        layers[f"pool{stage}"] = pool2d(pool, 2, 2)
    return nn.Sequential(layers), channels
