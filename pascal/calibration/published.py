"""Weights that others published, mapped onto a network: by name where the names fit, else by order and shape.

Convolutions and fully connected layers, norms, and thresholds are three sequences. Each of the file must run like that
of the network, so that a file whose layers stand in another order is refused and not mistaken for one that fits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from os import PathLike, fspath
from typing import Any

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.files import read_tensors
from pascal.graph import get_levels
from pascal.neurons import QCFS

State = Mapping[str, Tensor]
_WRAPPERS = ("module.", "_orig_mod.", "model.")  # of DataParallel, of torch.compile, of Lightning
_NORMS = ("running_mean", "running_var")
_ROLES = ("weight", "bias", *_NORMS)
_COUNTER = "num_batches_tracked"
_OWN = ("raw_threshold", "_extra_state")


@dataclass(frozen=True)
class LoadedWeights:
    """Which tensor of the file went where, by "name" or by "order", and what did not fit."""

    how: str
    taken: Mapping[str, str]  # the network's name → the file's
    missing: tuple[str, ...]  # of the network: as they were
    unused: tuple[str, ...]  # of the file
    thresholds: int  # activations that got one of the file's; the others are to be calibrated or trained

    def __str__(self) -> str:
        told = [f"{len(self.taken)} tensors by {self.how}, {self.thresholds} thresholds"]
        told += [f"  not in the file: {_some(self.missing)}"] if self.missing else []
        return "\n".join(told + ([f"  not in the network: {_some(self.unused)}"] if self.unused else []))


def load_weights(network: nn.Module, source: State | str | PathLike[str], partial: bool = False) -> LoadedWeights:
    """Give a network the weights of a state dict or of its file (safetensors, or torch's, of which weights alone).

    Scalar thresholds of QCFS networks are found whatever they are called. With `partial`, what does not fit stays as
    it was and is reported; without it, it is refused, and the network is left as it came.
    """
    where, state = _open(source)
    wanted = {name: value for name, value in network.state_dict().items() if _role(name) in _ROLES}
    named = {name: name for name, value in wanted.items() if name in state and state[name].shape == value.shape}
    ordered = _in_order(wanted, state)
    how, taken = ("name", named) if len(named) >= len(ordered) else ("order", ordered)
    thresholds = _thresholds(network, state)
    used = {*taken.values(), *thresholds.values()}
    missing = tuple(name for name in wanted if name not in taken)
    unused = tuple(name for name in state if name not in used and not _is_counter(name))
    if not partial and (missing or unused):
        raise PascalError(
            f"{where}: {_fault(wanted, state, missing, unused)}; expected the weights of {type(network).__name__}; "
            "build the network that they were trained in, or give partial=True to take what fits"
        )
    _put(network, state, taken, thresholds, where)
    return LoadedWeights(how, taken, missing, unused, len(thresholds))


def _open(source: Any) -> tuple[str, dict[str, Tensor]]:
    """A name for messages, and the tensors; wrappers around a state dict and its names are taken off."""
    where = "weights" if isinstance(source, Mapping) else fspath(source)
    state = _unwrapped(source if isinstance(source, Mapping) else _read(where))
    if not state:
        raise PascalError(f"{where}: holds no tensors, expected a state dict")
    while prefix := next((each for each in _WRAPPERS if all(name.startswith(each) for name in state)), ""):
        state = {name.removeprefix(prefix): value for name, value in state.items()}
    return where, state


def _read(path: str) -> Any:
    if path.endswith(".safetensors"):
        return read_tensors(path)
    try:
        return torch.load(path, weights_only=True, map_location="cpu")
    except FileNotFoundError as error:
        raise PascalError(f"{path}: there is no such file, expected weights; check the path") from error
    except Exception as error:  # unpicklers raise what they like
        fault = " ".join(str(error).split())[:200]
        raise PascalError(f"{path}: expected a file of weights alone, safetensors or a state dict: {fault}") from error


def _unwrapped(content: Any) -> dict[str, Tensor]:
    """The largest mapping of names to tensors in what was saved."""
    if not isinstance(content, Mapping):
        return {}
    own = {name: value for name, value in content.items() if isinstance(value, Tensor) and isinstance(name, str)}
    return max([own, *map(_unwrapped, content.values())], key=len)


def _role(name: str) -> str:
    return name.rpartition(".")[2]


def _owner(name: str) -> str:
    return name.rpartition(".")[0]


def _is_counter(name: str) -> bool:
    return _role(name) in (_COUNTER, *_OWN)


def _in_order(wanted: State, state: State) -> dict[str, str]:
    """Tensors of the same role and shape at the same place: weights up to where the two part, and back from the end.

    Norms look alike, so that all of them fit or none.
    """
    taken: dict[str, str] = {}
    for norms in (False, True):
        ours, theirs = (_sequence(each, norms) for each in (wanted, state))
        fits = [_like(wanted, state, *pair) for pair in zip(ours, theirs, strict=False)]
        first = fits.index(False) if False in fits else len(fits)
        if first == len(ours) == len(theirs) or not norms:
            taken |= dict(zip(ours[:first], theirs[:first], strict=True))
            backwards = zip(reversed(ours[first:]), reversed(theirs[first:]), strict=False)
            taken |= dict(takewhile(lambda pair: _like(wanted, state, *pair), backwards))
    return taken


def _like(wanted: State, state: State, ours: str, theirs: str) -> bool:
    return _role(ours) == _role(theirs) and wanted[ours].shape == state[theirs].shape


def _sequence(state: State, norms: bool) -> list[str]:
    """Names of the weights, or of the norms, in their order."""
    normed = {_owner(name) for name in state if _role(name) in _NORMS}
    normed |= {_owner(name) for name in state if _role(name) == "weight" and state[name].ndim == 1}
    return [name for name in state if _role(name) in _ROLES and (_owner(name) in normed) == norms]


def _thresholds(network: nn.Module, state: State) -> dict[str, str]:
    """Activation, in forward order → its threshold: the name that the file has as often as the network activations."""
    others: dict[str, list[str]] = {}
    for name, value in state.items():
        if _role(name) not in _ROLES and not _is_counter(name) and value.is_floating_point():
            others.setdefault(_role(name), []).append(name)
    if not others or not any(isinstance(module, QCFS) for module in network.modules()):
        return {}
    layers = list(get_levels(network))
    fitting = [names for names in others.values() if len(names) == len(layers)]
    return dict(zip(layers, fitting[0], strict=True)) if len(fitting) == 1 else {}


def _put(network: nn.Module, state: State, taken: Mapping[str, str], thresholds: Mapping[str, str], where: str) -> None:
    """All of it or, where a number is none, nothing."""
    for name in (*taken.values(), *thresholds.values()):
        if not bool(state[name].isfinite().all()):
            raise PascalError(f"{where}: {name} holds NaN or infinite values, expected trained, finite weights")
    before = {name: value.clone() for name, value in network.state_dict().items()}
    values = {ours: state[theirs] for ours, theirs in {**taken, **_counters(taken)}.items() if theirs in state}
    own = {name: value for name, value in state.items() if _role(name) in _OWN and name in before}
    network.load_state_dict(before | values | own)
    for layer, name in thresholds.items():
        try:
            network.get_submodule(layer).threshold = state[name].flatten()
        except PascalError as error:
            network.load_state_dict(before)
            raise PascalError(f"{where}: {name} of {layer}: {error}") from error


def _counters(taken: Mapping[str, str]) -> dict[str, str]:
    """How many batches each norm has seen, which older files do not say."""
    means = [pair for pair in taken.items() if _role(pair[0]) == "running_mean"]
    return {f"{_owner(ours)}.{_COUNTER}": f"{_owner(theirs)}.{_COUNTER}" for ours, theirs in means}


def _fault(wanted: State, state: State, missing: tuple[str, ...], unused: tuple[str, ...]) -> str:
    """What either side has alone, with shapes."""
    ours, theirs = (
        tuple(f"{name} {tuple(values[name].shape)}" for name in names)
        for values, names in ((wanted, missing), (state, unused))
    )
    return f"the network's {_some(ours)} found nothing that fits, the file's {_some(theirs)} no place"


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 4} others" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more if names else "nothing"
