"""Weights trained elsewhere, looked for before any job: there, or promised by another run, or their run is left out."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from os.path import normpath
from pathlib import Path

from pascal.pipeline.errors import ParameterError
from pascal.pipeline.parameters.faults import show
from pascal.pipeline.parameters.runs import Params, Run

_ABSENT = "which is not there, expected a safetensors file"
_OTHER = "expected a whole safetensors file; no pickle is loaded"
_PUBLISHED = "expected a whole safetensors file, or torch's file of weights alone"
_TORCH = (b"PK\x03\x04", b"\x80\x02\x8a\nl\xfc")  # how torch's files begin, and those before its version 1.6


def plannable(params: Params, file: Path) -> tuple[Params, list[str]]:
    """The parameters without runs whose optional weights are not there, and a line on each of those."""
    faults, notes, left = [], [], set()
    for run in params.runs.values():
        if run.start is None and (fault := _fault(run, params)):
            followers = [other.name for other in params.runs.values() if other.start == run.name]
            if run.settings.optional and fault.endswith(_ABSENT):
                left |= {run.name, *followers}
                notes.append(f"{file}: {fault}; left out until then: {', '.join([run.name, *followers])}")
            else:
                faults.append(f"{file}: {fault}")
    kept = {name: run for name, run in params.runs.items() if name not in left}
    if faults or not kept:
        raise ParameterError("\n".join([*faults, *([] if faults else notes)]))
    return replace(params, runs=kept), notes


def _fault(run: Run, params: Params) -> str:
    weights = run.settings.weights
    if weights is None:
        return ""
    where = f"runs.{run.name}.weights: got {show(weights)}"
    if other := maker(weights, params):
        makers = [other.name, *_origins(other, params)]
        return f"{where}, the run's own result, expected weights from elsewhere" if run.name in makers else ""
    if _in_results(weights):
        return f"{where}, which no run of this file makes, expected a run's ann.safetensors, or a copy outside results/"
    if not Path(weights).is_file():
        return f"{where}, {_ABSENT}"
    if run.settings.calibrate is None:
        return "" if _is_safetensors(Path(weights)) else f"{where}, {_OTHER}"
    return "" if _is_safetensors(Path(weights)) or _is_torchs(Path(weights)) else f"{where}, {_PUBLISHED}"


def _in_results(weights: str) -> bool:
    """Whether a file is a result, or was one of a run that is gone; published ones aside."""
    parts = Path(os.path.relpath(weights)).parts
    return parts[:1] == ("results",) and parts[1:2] != ("reference",)


def _is_safetensors(path: Path) -> bool:
    """Whether the file is as long as its header says, without reading weights."""
    size = path.stat().st_size
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError), path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length)) if length < size else {}
        ends = [about["data_offsets"][1] for name, about in header.items() if name != "__metadata__"]
        return bool(ends) and 8 + length + max(ends) == size
    return False


def _is_torchs(path: Path) -> bool:
    """Whether the file begins as those of torch.save do; the stage reads weights alone of it."""
    with path.open("rb") as file:
        return file.read(6).startswith(_TORCH)


def maker(weights: str, params: Params) -> Run | None:
    """The run that makes this file, if one does."""
    parts = Path(normpath(weights)).absolute()
    for seed in params.seeds:
        for run in params.runs.values():
            if parts == Path("results", run.name, str(seed), "ann.safetensors").absolute():
                return run
    return None


def _origins(run: Run, params: Params) -> Iterator[str]:
    """The runs that a run's network comes from, one after another."""
    seen, before = {run.name}, _origin(run, params)
    while before is not None and before.name not in seen:
        seen.add(before.name)
        yield before.name
        before = _origin(before, params)


def _origin(run: Run, params: Params) -> Run | None:
    if run.start is not None:
        return params.runs.get(run.start)
    return maker(run.settings.weights, params) if run.settings.weights else None
