"""A calibrated network and its file: batch norms are folded, nothing else stands in its state."""

from collections.abc import Mapping

from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.graph.convert import trained_graph


def folded(ann: nn.Module) -> nn.Module:
    """A copy without batch norms, in which each call of a layer has weights of its own."""
    network = trained_graph(ann)
    network.delete_all_unused_submodules()
    return network


def restore(ann: nn.Module, state: Mapping[str, Tensor]) -> nn.Module:
    """What `calibrate` made of a network, from its state: the network with its levels is enough to begin with."""
    network = folded(ann.eval()).requires_grad_(True)
    for path in [name.removesuffix(".bias") for name in state.keys() - network.state_dict().keys()]:
        _add_bias(network, path, state)
    try:
        network.load_state_dict(dict(state))
    except RuntimeError as error:
        fault = " ".join(str(error).split())[:400]
        raise PascalError(f"state: expected that of the calibrated {type(ann).__name__}: {fault}") from error
    return network.eval()


def _add_bias(network: nn.Module, path: str, state: Mapping[str, Tensor]) -> None:
    """Room for a bias where the ridge has made one."""
    module = dict(network.named_modules()).get(path)
    if module is not None and getattr(module, "bias", 0) is None:
        module.bias = nn.Parameter(state[f"{path}.bias"].clone())
