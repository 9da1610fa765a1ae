"""Networks by name."""

from collections.abc import Callable
from functools import partial

from torch import nn

from pascal.errors import PascalError
from pascal.networks.resnet import ResNet
from pascal.networks.vgg import VGG16
from pascal.neurons import QCFS
from pascal.neurons.levels import Levels, apply_levels

NETWORKS: dict[str, Callable[..., nn.Module]] = {
    "vgg16": VGG16,
    "resnet18": partial(ResNet, (2, 2, 2, 2), (64, 128, 256, 512)),
    "resnet20": partial(ResNet, (3, 3, 3), (16, 32, 64)),
    "resnet34": partial(ResNet, (3, 4, 6, 3), (64, 128, 256, 512)),
}


def build_network(
    name: str, classes: int = 10, image_size: int = 32, levels: Levels = 4, width: float = 1.0, pool: str = "max"
) -> nn.Module:
    """A network of the paper with QCFS activations, in training mode, with fresh weights from torch's generator."""
    if name not in NETWORKS:
        raise PascalError(f"network: got {name!r}, expected one of {sorted(NETWORKS)}")
    if classes < 1:
        raise PascalError(f"classes: got {classes}, expected at least 1")
    if not width > 0:
        raise PascalError(f"width: got {width}, expected a positive multiplier")
    network = NETWORKS[name](classes=classes, image_size=image_size, width=width, pool=pool)
    apply_levels({path: m for path, m in network.named_modules() if isinstance(m, QCFS)}, levels)
    return network
