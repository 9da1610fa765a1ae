"""The modules that a graph calls as their class and settings, and back; their numbers stand beside them."""

import inspect
from typing import Any

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.graph.saving.arguments import decoded, encoded
from pascal.graph.saving.names import class_of
from pascal.graph.tracing import InferenceOnly
from pascal.neurons import QCFS
from pascal.neurons.counting import CountingPASC
from pascal.neurons.modules import IF, PASC

_FLAGS = {QCFS: ("clip",), CountingPASC: ("half_arrives", "overwrites", "hands_on_counts")}


def described(module: nn.Module, where: str, inert: bool = False) -> dict[str, Any]:
    """Class and settings; what hands its input on at inference is an identity."""
    kind = type(module)
    if inert and not isinstance(module, InferenceOnly):
        return {"class": "Identity", "settings": {}}
    if kind in _NEURONS:
        settings = {name: getattr(module, name) for name in ("levels",) if hasattr(module, name)}
        flags = {name: getattr(module, name) for name in _FLAGS.get(kind, ())}
        return {"class": f"pascal.{kind.__name__}", "settings": settings, "flags": flags}
    if isinstance(module, InferenceOnly):
        return {"class": "pascal.InferenceOnly", "settings": {"lost": list(module.lost)}}
    if getattr(nn, kind.__name__, None) is not kind:
        raise PascalError(f"{where}: {kind.__name__} cannot be saved, expected a module of torch.nn; trace it first")
    return {"class": kind.__name__, "settings": encoded(_settings(module), where)["dict"]}


def _settings(module: nn.Module) -> dict[str, Any]:
    """What its constructor takes, read from its attributes: flags of parameters from whether they are there."""
    settings: dict[str, Any] = {}
    for name in inspect.signature(type(module).__init__).parameters:
        if name in ("self", "device", "dtype", "args", "kwargs", "inplace", "process_group"):
            continue
        value = getattr(module, name, None)
        settings[name] = value is not None if name == "bias" else value
    return settings


_NEURONS: dict[type, Any] = {
    QCFS: lambda settings: QCFS(settings["levels"]),
    PASC: lambda settings: PASC(torch.empty(()), settings["levels"]),
    CountingPASC: lambda settings: CountingPASC(torch.empty(()), settings["levels"]),
    IF: lambda settings: IF(torch.empty(())),
}


def rebuilt(description: dict[str, Any], numbers: dict[str, Tensor], path: str) -> nn.Module:
    """The module, with these numbers in it."""
    with torch.device("meta"):
        module = _made(description, path)
    for name, value in description.get("flags", {}).items():
        setattr(module, name, value)
    for name, number in {**module._parameters, **module._buffers}.items():
        if number is not None and name not in numbers:
            raise PascalError(f"{path}.{name} is missing; the file is incomplete")
        if name in module._parameters and number is not None:
            module._parameters[name] = nn.Parameter(numbers[name])
        elif number is not None:
            module._buffers[name] = numbers[name]
    return module.eval()


def _made(description: dict[str, Any], path: str) -> nn.Module:
    name, settings = description["class"], description["settings"]
    neuron = next((make for kind, make in _NEURONS.items() if f"pascal.{kind.__name__}" == name), None)
    if neuron is not None:
        return neuron(settings)
    if name == "pascal.InferenceOnly":
        return InferenceOnly(tuple(settings["lost"]))
    try:
        return class_of(name)(**{key: decoded(value, str) for key, value in settings})
    except (TypeError, ValueError) as error:
        if isinstance(error, PascalError):
            raise
        raise PascalError(f"{path}: {name} cannot be made from its settings: {error}") from error
