"""Everything a hardware team needs: the integers of a network, the width of every register, and golden vectors.

network.json   the calls in order: what they read, geometry, timesteps, widths; pixels and logits in real units
network.npz    {path}/weight INT8, {path}/constant, {path}/multiplier, {path}/threshold, {path}/levels
golden.npz     pixels, {path}/counts, {path}/trains (timesteps, N, ...) and logits of given images
hex/           each array of both, one two's complement word per line in C order, for $readmemh
"""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, fx

from pascal.errors import PascalError
from pascal.files import write_bytes
from pascal.graph.integer.build import IntegerNetwork
from pascal.graph.integer.modules import IntegerAffine, IntegerPASC, IntegerWeighted, whole
from pascal.graph.integer.snn import IntegerSNN
from pascal.graph.integer.steps import run_stepwise
from pascal.graph.operations import call_name
from pascal.graph.trace import module_of

Arrays = dict[str, NDArray[Any]]


def export_network(snn: IntegerSNN, images: Tensor, folder: Path) -> None:
    """Write a network for images of this size into `folder`, with these images as golden vectors."""
    network = snn.network(images)
    if not isinstance(network.logit_unit, Tensor):
        raise PascalError(
            "export: the network returns several tensors, expected one, the logits; export each head alone"
        )
    arrays, golden = network_arrays(network), golden_vectors(snn, images)
    description = {
        "pixels": {"step": snn.pixels.step, "bits": snn.pixels.bits},
        "logit_unit": network.logit_unit.flatten().tolist(),
        "calls": describe(network),
    }
    write_bytes(folder / "network.json", (json.dumps(description, indent=1, sort_keys=True) + "\n").encode())
    for name, group in (("network", arrays), ("golden", golden)):
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **group)  # type: ignore[arg-type]
        write_bytes(folder / f"{name}.npz", buffer.getvalue())
        for key, array in group.items():
            write_bytes(folder / "hex" / name / f"{key.replace('/', '.')}.hex", hex_words(array))


def network_arrays(network: IntegerNetwork) -> Arrays:
    """Weights, constants, multipliers, thresholds and levels, by path."""
    arrays: Arrays = {}
    for node in network.graph.graph.nodes:
        module: Any = module_of(network.graph, node)
        if isinstance(module, IntegerWeighted):
            arrays[f"{node.target}/weight"] = module.weight.cpu().numpy()
        if isinstance(module, IntegerAffine):
            arrays[f"{node.target}/multiplier"] = _whole(module.multiplier)
        if isinstance(module, IntegerWeighted | IntegerAffine):
            arrays[f"{node.target}/constant"] = _whole(module.constant)
        if isinstance(module, IntegerPASC):
            arrays[f"{node.target}/threshold"] = _whole(module.threshold)
            arrays[f"{node.target}/levels"] = np.array(module.levels, np.int32)
    return arrays


def golden_vectors(snn: IntegerSNN, images: Tensor) -> Arrays:
    """Pixels, counts, trains and logits, all integers, from the network timestep by timestep."""
    pixels = snn.pixels.integers(images)
    logits, trains = run_stepwise(snn.network(images), pixels)
    golden = {"pixels": pixels.to(torch.int16).cpu().numpy(), "logits": _whole(logits)}
    for path, spikes in trains.items():
        golden[f"{path}/trains"] = spikes.cpu().numpy()
        golden[f"{path}/counts"] = _whole(spikes.sum(0))
    return golden


def describe(network: IntegerNetwork) -> list[dict[str, Any]]:
    """The calls in order, as plain data. `bits` is the width, with sign, that no value of the call exceeds."""
    return [_description(network, node) for node in network.graph.graph.nodes if node.name in network.timesteps]


def _description(network: IntegerNetwork, node: fx.Node) -> dict[str, Any]:
    largest = network.largest[node.name]
    return {
        "name": node.name,
        "call": node.op if node.op == "placeholder" else call_name(node, module_of(network.graph, node)),
        "path": str(node.target) if node.op == "call_module" else None,
        "inputs": [source.name for source in node.all_input_nodes],
        "timesteps": network.timesteps[node.name],
        "largest": largest,
        "bits": largest.bit_length() + 1,
        "options": _options(network, node),
    }


def _options(network: IntegerNetwork, node: fx.Node) -> dict[str, Any]:
    module: Any = module_of(network.graph, node)
    module = getattr(module, "weighted", module)
    names = ("stride", "padding", "dilation", "groups", "kernel_size", "output_size", "ceil_mode", "count_include_pad")
    options = {name: getattr(module, name) for name in names if hasattr(module, name)}
    if node.target is whole:
        options["divisor"] = node.args[1]
    elif module is None and node.op != "placeholder":
        options["arguments"] = str((*node.args, node.kwargs))
    return options


def hex_words(array: NDArray[Any]) -> bytes:
    """One word per line, two's complement, as wide as the array's type."""
    integers = array.astype(np.uint8) if array.dtype == bool else array
    digits = 2 * integers.dtype.itemsize
    words = integers.ravel().astype(f">i{integers.dtype.itemsize}").tobytes().hex()
    return "".join(f"{words[i : i + digits]}\n" for i in range(0, len(words), digits)).encode()


def _whole(values: Tensor) -> NDArray[Any]:
    """In 32 bits, or in 64 where they need them."""
    wide = values.numel() > 0 and float(values.abs().max()) >= 2**31
    return values.cpu().to(torch.int64 if wide else torch.int32).numpy()
