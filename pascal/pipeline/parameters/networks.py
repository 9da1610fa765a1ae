"""How many layers the networks have: known for ours, counted once for those of timm and torchvision."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pascal.errors import PascalError
from pascal.pipeline.stamps import write_if_changed

LAYERS = {
    "vgg16": 15,
    "resnet18": 17,
    "resnet20": 19,
    "resnet20-a": 19,
    "resnet34": 33,
}  # QCFS layers, so that planning needs no torch


@cache
def network_fault(network: str) -> str:
    """What is wrong with a library's network, or nothing."""
    try:
        _count(network)
    except PascalError as error:
        return str(error).removeprefix("network: ")
    return ""


def count_layers(network: str) -> int:
    """How many QCFS layers a network has; none if it cannot be built."""
    return 0 if network_fault(network) else _count(network)


@cache
def _count(network: str) -> int:
    if network in LAYERS:
        return LAYERS[network]
    counted = Path("build", "layers", network.replace(":", "_").replace("/", "_"))
    if not counted.exists():
        from pascal.graph import get_levels
        from pascal.networks import build_network

        write_if_changed(counted, f"{len(get_levels(build_network(network, image_size=224)))}\n")
    return int(counted.read_text())


def wrong_length(levels: Sequence[int], layers: int, network: str) -> str:
    """The fault of a list that fits another network."""
    return f"got a list of {len(levels)}, expected {layers}, one for each layer of {network}"
