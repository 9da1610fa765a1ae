"""Networks of timm and torchvision by name, quantised: `timm:resnet26`, `torchvision:resnet18`."""

from collections.abc import Callable

from torch import nn

from pascal.errors import PascalError
from pascal.graph import quantize
from pascal.neurons.levels import Levels


def _from_timm(name: str, classes: int) -> nn.Module:
    import timm  # here, because it takes seconds and few need it

    return timm.create_model(name, pretrained=False, num_classes=classes)


def _from_torchvision(name: str, classes: int) -> nn.Module:
    import torchvision

    return torchvision.models.get_model(name, weights=None, num_classes=classes)


LIBRARIES: dict[str, Callable[[str, int], nn.Module]] = {"timm": _from_timm, "torchvision": _from_torchvision}


def library_network(name: str, classes: int, levels: Levels) -> nn.Module:
    """A library's network with fresh weights and a QCFS in the place of every ReLU."""
    library, _, model = name.partition(":")
    try:
        network = LIBRARIES[library](model, classes)
    except (RuntimeError, ValueError, KeyError) as error:
        raise PascalError(f"network: got {name!r}, which {library} does not know: {error}") from error
    return quantize(network, levels)
