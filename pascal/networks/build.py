"""Networks by name."""

from collections.abc import Callable
from functools import partial

from torch import nn

from pascal.errors import PascalError
from pascal.networks.library import LIBRARIES, library_network
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
    """A network with QCFS activations, in training mode, with fresh weights from torch's generator.

    `name` is one of the paper's networks, `timm:<name>` or `torchvision:<name>`.
    """
    library = name.partition(":")[0]
    if name not in NETWORKS and library not in LIBRARIES:
        raise PascalError(f"network: got {name!r}, expected one of {sorted(NETWORKS)}, timm:<name>, torchvision:<name>")
    if classes < 1:
        raise PascalError(f"classes: got {classes}, expected at least 1")
    if not width > 0:
        raise PascalError(f"width: got {width}, expected a positive multiplier")
    if library in LIBRARIES:
        if width != 1 or pool != "max":
            raise PascalError(f"network {name!r}: width and pool belong to the paper's networks; leave them out")
        return library_network(name, classes, levels)
    network = NETWORKS[name](classes=classes, image_size=image_size, width=width, pool=pool)
    apply_levels({path: m for path, m in network.named_modules() if isinstance(m, QCFS)}, levels)
    return network
