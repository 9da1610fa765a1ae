"""`pascal.save` and `pascal.load`."""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as read_numbers
from safetensors.torch import save as written
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.files import AnyPath, write_bytes
from pascal.graph.counts import CountsSNN
from pascal.graph.digests import bytes_of, versions
from pascal.graph.integer import IntegerSNN, Pixels
from pascal.graph.integer.snn import IntegerStepsSNN
from pascal.graph.network import SpikingNetwork
from pascal.graph.saving.calls import describe, restore
from pascal.graph.steps import SteppedSNN
from pascal.graph.timesteps import count_timesteps
from pascal.graph.trace import trace
from pascal.inference import check_model

VERSION = 1
_KEY = "pascal"


def save(model: nn.Module, path: AnyPath) -> Path:
    """Write a spiking network, or an ANN that converts, into one safetensors file; `pascal.load` needs no class of it.

    The graph stands as JSON beside the numbers. No pickle; the same network gives the same bytes.
    """
    return write_bytes(path, to_bytes(model))


def load(path: AnyPath, device: torch.device | str = "cpu") -> Any:
    """The network that `pascal.save` wrote: it computes what the saved one did, whichever classes made that."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise PascalError(f"{path}: there is no such file, expected a network that pascal.save wrote") from error
    try:
        return from_bytes(content).to(device)
    except PascalError as error:
        raise PascalError(f"{path}: {error}") from error


def is_saved(path: AnyPath) -> bool:
    """Whether a file says of itself that it holds a network: a safetensors header with our key."""
    with open(path, "rb") as file:
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > 100_000_000:
            return False
        return f'"{_KEY}":'.encode() in file.read(length)


def to_bytes(model: nn.Module) -> bytes:
    """The content of the file."""
    if isinstance(model, SpikingNetwork):
        graph, edges, kind = model.graph, model.edges, _described(model)
    else:
        graph = trace(check_model(model))
        edges, kind = count_timesteps(graph), {"engine": "ann"}
    calls, numbers = describe(graph, edges)
    tensors = {name: numbers[name].detach().cpu().contiguous().clone() for name in sorted(numbers)}
    text = json.dumps({"version": VERSION, "versions": versions(), **kind, **calls}, sort_keys=True)
    header = json.dumps({"description": text, "sha256": _digest(text, tensors)}, sort_keys=True)
    return written(tensors, {_KEY: header})


def from_bytes(content: bytes) -> nn.Module:
    """The network of these bytes."""
    try:
        numbers = read_numbers(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")]).get("__metadata__", {})
    except (SafetensorError, ValueError) as error:
        raise PascalError(f"no whole safetensors file ({error}); copy it again, or save the network again") from error
    if _KEY not in header:
        raise PascalError(
            "holds numbers without a network, expected a file that pascal.save wrote; weights alone go into a network: "
            "model.load_state_dict(safetensors.torch.load_file(path))"
        )
    held = json.loads(header[_KEY])
    if held["sha256"] != _digest(held["description"], numbers):
        raise PascalError("its content is not what was saved (SHA-256 differs); copy it again")
    return _network(json.loads(held["description"]), numbers)


def from_tensor(content: Tensor, device: str = "cpu") -> nn.Module:
    """The network of bytes that stand in a tensor: what torch.save and copy.deepcopy hand on."""
    return from_bytes(content.numpy().tobytes()).to(device)


torch.serialization.add_safe_globals([from_tensor])  # torch.load(weights_only=True) reads it: it runs no code of a file


def _digest(text: str, numbers: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(numbers):
        digest.update(f"{name}{numbers[name].dtype}{tuple(numbers[name].shape)}".encode())
        digest.update(bytes_of(numbers[name]))
    return digest.hexdigest()


def _described(snn: SpikingNetwork) -> dict[str, Any]:
    """What an engine needs besides its graph."""
    if isinstance(snn, SteppedSNN):
        return {"engine": "steps", "neuron": snn.neuron, "inexact": list(snn.inexact)}
    if isinstance(snn, CountsSNN):
        return {"engine": "counts", "compiled": snn.compiled}
    if isinstance(snn, IntegerStepsSNN):
        return {**_described(snn.snn), "stepwise": True}
    if isinstance(snn, IntegerSNN):
        return {"engine": "integer", "pixels": [snn.pixels.step, snn.pixels.bits], "int8": snn.int8, "stepwise": False}
    raise PascalError(f"snn: {type(snn).__name__} cannot be saved, expected what pascal.convert returns")


def _network(description: dict[str, Any], numbers: dict[str, Tensor]) -> nn.Module:
    if description.get("version") != VERSION:
        raise PascalError(
            f"version {description.get('version')!r} of the format, this pascal reads {VERSION}; "
            f"it was written by pascal {description.get('versions', {}).get('pascal', 'unknown')}: install that one"
        )
    graph, edges = restore(description, numbers)
    engine = description["engine"]
    if engine == "ann":
        return graph
    graph.requires_grad_(False)
    if engine == "steps":
        return SteppedSNN(graph, edges, description["neuron"], tuple(description["inexact"])).eval()
    if engine == "counts":
        return CountsSNN(graph, edges, description["compiled"]).eval()
    step, bits = description["pixels"]
    snn = IntegerSNN(graph, edges, Pixels(step, bits), description["int8"]).eval()
    return snn.stepwise() if description["stepwise"] else snn


def _reduced(snn: SpikingNetwork) -> Any:
    """For copy and pickle: the bytes of the file, as a tensor, and where they go."""
    device = next(iter(snn.parameters()), torch.empty(0)).device
    return from_tensor, (torch.frombuffer(bytearray(to_bytes(snn)), dtype=torch.uint8), str(device))


SpikingNetwork._reduced = _reduced
