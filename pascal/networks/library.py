"""Networks of timm and torchvision by name, quantised: `timm:resnet26`, `torchvision:resnet18`."""

from difflib import get_close_matches
from importlib import import_module

from torch import nn

from pascal.errors import PascalError
from pascal.graph import quantize
from pascal.neurons.levels import Levels

LIBRARIES = {"timm": "timm", "torchvision": "torchvision.models"}


def library_network(name: str, classes: int, levels: Levels) -> nn.Module:
    """A library's network with fresh weights and a QCFS in the place of every ReLU."""
    return quantize(library_model(name, classes), levels)


def library_model(name: str, classes: int) -> nn.Module:
    """A library's network as it is."""
    library, _, model = name.partition(":")
    models = import_module(LIBRARIES[library])  # here, because it takes seconds and few need it
    if model.partition(".")[0] not in models.list_models():  # timm names weights after a dot
        near = ", ".join(get_close_matches(model, models.list_models(), 3)) or "a name that its list_models() gives"
        raise PascalError(f"network: got {name!r}, expected a network that {library} knows, such as {near}")
    build = models.create_model if library == "timm" else models.get_model
    return build(model, num_classes=classes)
