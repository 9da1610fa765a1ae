"""Networks that stages have trained or calibrated."""

from os import PathLike
from typing import TYPE_CHECKING

from torch import nn

from pascal.pipeline.models import new_network, tensors_of
from pascal.training.distributed import choose_device

if TYPE_CHECKING:
    from pascal.pipeline.parameters.runs import Architecture

Path = str | PathLike[str]


def trained_network(params: "Architecture", about: Path, ann: Path) -> nn.Module:
    """A network of a run with its weights and levels, in evaluation mode, on the stage's device."""
    network, tensors = new_network(params, about, levels=1), tensors_of(ann)
    if network.state_dict().keys() == tensors.keys():
        network.load_state_dict(tensors)
    else:
        from pascal.pipeline.calibrated import calibrated_network  # here, for networks that were trained need no graph

        network = calibrated_network(network, tensors)
    return network.eval().to(choose_device(getattr(params, "device", "cpu")))
