"""How many layers the networks have: known for ours, counted once for those of timm and torchvision."""

from functools import cache
from pathlib import Path

from .errors import ParameterError
from .stamps import write_if_changed

LAYERS = {"vgg16": 15, "resnet18": 17, "resnet20": 19, "resnet34": 33}  # QCFS layers, so that planning needs no torch


@cache
def count_layers(network: str) -> int:
    """How many QCFS layers a network has."""
    if network in LAYERS:
        return LAYERS[network]
    counted = Path("build", "layers", network.replace(":", "_").replace("/", "_"))
    if not counted.exists():
        from pascal.errors import PascalError
        from pascal.graph import get_levels
        from pascal.networks import build_network

        try:
            layers = get_levels(build_network(network, image_size=224))
        except PascalError as error:
            raise ParameterError(str(error).removeprefix("network: ")) from error
        write_if_changed(counted, f"{len(layers)}\n")
    return int(counted.read_text())
