"""Traces as `.npz`: the same trace gives the same bytes, nothing is pickled, and a damaged file is refused by name."""

import json
import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pascal.errors import PascalError
from pascal.files import replacing
from pascal.hardware.bitplanes import bits_of
from pascal.hardware.trace import LayerTrace, Trace, network_trace, reads_spikes
from pascal.workload import workload_row, workloads_from_rows

_VERSION = 1
_HEADER = "header"


def save_trace(path: str | os.PathLike[str], trace: Trace) -> None:
    """Write atomically: a reader sees the old file or the whole new one."""
    arrays: dict[str, NDArray] = {}
    header = {"version": _VERSION, "layers": [_store(layer, f"{n}.", arrays) for n, layer in enumerate(trace.layers)]}
    arrays[_HEADER] = np.frombuffer(json.dumps(header, sort_keys=True).encode(), dtype=np.uint8)
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_trace(path: str | os.PathLike[str]) -> Trace:
    """Read what `save_trace` wrote."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays[_HEADER].tobytes())
        if header["version"] != _VERSION:
            raise PascalError(f"trace {path}: version {header['version']}, expected {_VERSION}; rerun stage workload")
        layers = [_restore(record, f"{n}.", arrays) for n, record in enumerate(header["layers"])]
    except PascalError:
        raise
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError) as error:
        raise PascalError(f"trace {path}: cannot be read ({error}); rerun stage workload") from error
    return network_trace(layers)


def _store(layer: LayerTrace, prefix: str, arrays: dict[str, NDArray]) -> dict[str, Any]:
    mask = layer.weights.dtype == np.bool_
    arrays[prefix + "weights"] = np.packbits(layer.weights) if mask else layer.weights
    arrays[prefix + "active_outputs"] = layer.active_outputs
    if layer.spikes is not None:
        arrays[prefix + "spikes"] = layer.spikes
    return {
        "workload": workload_row(layer.workload),
        "mask_shape": layer.weights.shape if mask else None,
        "map_shape": layer.map_shape,
        "words": layer.words,
        "pool": layer.pool,
    }


def _restore(record: Mapping[str, Any], prefix: str, arrays: Mapping[str, NDArray]) -> LayerTrace:
    (workload,) = workloads_from_rows([record["workload"]])
    weights = arrays[prefix + "weights"]
    if record["mask_shape"] is not None:
        size = int(np.prod(record["mask_shape"]))
        weights = np.unpackbits(weights, count=size).astype(bool).reshape(record["mask_shape"])
    layer = LayerTrace(
        workload,
        weights,
        arrays.get(prefix + "spikes"),
        tuple(record["map_shape"]),
        record["words"],
        arrays[prefix + "active_outputs"],
        tuple(record["pool"]),
    )
    _check(layer)
    return layer


def _check(layer: LayerTrace) -> None:
    images = len(layer.active_outputs)
    if (layer.spikes is None) == reads_spikes(layer.workload):
        raise PascalError(f"{layer.path}: spikes are recorded where none arrive, or missing; rerun stage workload")
    if layer.spikes is not None:
        timesteps = layer.workload.timesteps
        bits = timesteps if layer.words else bits_of(timesteps)
        expected = (images, bits, -(-int(np.prod(layer.map_shape)) // 8))
        if layer.spikes.shape != expected or layer.spikes.dtype != np.uint8:
            raise PascalError(
                f"{layer.path}: spikes are {layer.spikes.dtype} {layer.spikes.shape}, expected uint8 {expected}; "
                "rerun stage workload"
            )
