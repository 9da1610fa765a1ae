"""The spiking network as the stages hand it on; apart from models, for training must not depend on conversion."""

from os import PathLike

from torch import nn

from pascal.graph import convert
from pascal.pipeline.models import tensors_of


def spiking_network(ann: nn.Module, snn: str | PathLike[str]) -> nn.Module:
    """The converted network with the very numbers of stage convert's file, in the ANN's arithmetic."""
    network = convert(ann, engine="steps")
    network.load_state_dict(tensors_of(snn))
    return network.eval()
