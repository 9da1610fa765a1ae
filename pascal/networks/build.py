"""Networks by name."""

from collections.abc import Callable
from functools import partial

from torch import nn

from pascal.checks import check_choice, check_number, check_whole
from pascal.errors import PascalError
from pascal.networks.resnet import ResNet
from pascal.networks.vgg import VGG16
from pascal.neurons.levels import Levels, apply_levels, registered_layers

NETWORKS: dict[str, Callable[..., nn.Module]] = {
    "vgg16": VGG16,
    "resnet18": partial(ResNet, (2, 2, 2, 2), (64, 128, 256, 512)),
    "resnet20": partial(ResNet, (3, 3, 3), (16, 32, 64)),
    "resnet20-a": partial(ResNet, (3, 3, 3), (16, 32, 64), padded=True),  # shortcuts without weights
    "resnet34": partial(ResNet, (3, 4, 6, 3), (64, 128, 256, 512)),
}
_LIBRARIES = ("timm:", "torchvision:")


def build_network(
    name: str, classes: int = 10, image_size: int = 32, levels: Levels = 4, width: float = 1.0, pool: str = "max"
) -> nn.Module:
    """A network with QCFS activations, in training mode, with fresh weights from torch's generator.

    `name` is one of the paper's networks, `timm:<name>` or `torchvision:<name>`.
    """
    if not isinstance(name, str) or (name not in NETWORKS and not name.startswith(_LIBRARIES)):
        raise PascalError(f"network: got {name!r}, expected one of {sorted(NETWORKS)}, timm:<name>, torchvision:<name>")
    check_whole(classes, "classes"), check_whole(image_size, "image_size")
    check_number(width, "width", above=0), check_choice(pool, "pool", ("max", "avg"))
    if name not in NETWORKS:
        if width != 1 or pool != "max":
            raise PascalError(f"network {name!r}: width and pool belong to the paper's networks; leave them out")
        from pascal.networks.library import library_network  # here, for the paper's networks need no graph

        return library_network(name, classes, levels)
    network = NETWORKS[name](classes=classes, image_size=image_size, width=width, pool=pool)
    apply_levels(registered_layers(network), levels)
    return network
