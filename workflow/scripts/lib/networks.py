"""Networks by name: the package's own, and any of timm's or torchvision's through `quantize`."""

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import ParameterError
from .stamps import write_if_changed

if TYPE_CHECKING:
    from torch import nn

LAYERS = {"vgg16": 15, "resnet18": 17, "resnet20": 19, "resnet34": 33}  # QCFS layers, so that planning needs no torch


@cache
def count_layers(network: str) -> int:
    """How many QCFS layers a network has."""
    if network in LAYERS:
        return LAYERS[network]
    counted = Path("build", "layers", network.replace(":", "_").replace("/", "_"))
    if not counted.exists():
        from pascal.graph import get_levels

        layers = get_levels(build(network, classes=10, image_size=224, levels=1))
        write_if_changed(counted, f"{len(layers)}\n")
    return int(counted.read_text())


def build(network: str, classes: int, image_size: int, levels: Any, **options: Any) -> "nn.Module":
    """A network with fresh weights from torch's generator; `options` are width, pool and threshold."""
    if ":" in network:
        return _from_zoo(network, classes, levels, options)
    from pascal.networks import build_network
    from pascal.neurons import QCFS

    threshold = options.pop("threshold", None)
    built = build_network(network, classes=classes, image_size=image_size, levels=levels, **options)
    for module in built.modules():
        if threshold is not None and isinstance(module, QCFS):
            module.threshold = threshold
    return built


def _from_zoo(network: str, classes: int, levels: Any, options: dict[str, Any]) -> "nn.Module":
    library, name = network.split(":", 1)
    if options.get("width", 1.0) != 1.0:
        raise ParameterError(f"got {network!r} with width {options['width']}, expected no width: only our own have one")
    from pascal.graph import quantize

    threshold = {"threshold": options["threshold"]} if "threshold" in options else {}
    return quantize(_unquantized(library, name, classes), levels, **threshold)


def _unquantized(library: str, name: str, classes: int) -> "nn.Module":
    models = import_module("timm" if library == "timm" else "torchvision.models")
    known = models.list_models()
    if name not in known:
        near = ", ".join(get_close_matches(name, known, 3)) or "a name that its list_models() gives"
        raise ParameterError(f"got {library}:{name!r}, expected a network that {library} knows, such as {near}")
    if library == "timm":
        return models.create_model(name, num_classes=classes)
    return models.get_model(name, weights=None, num_classes=classes)
