"""Sweeps: a run with a grid of values stands for many runs, one for each point, named after what differs.

`python -m pascal.pipeline.parameters.sweep params.yaml` writes them out in the file, which is what DVC can read.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from pascal.errors import PascalError
from pascal.files import write_text
from pascal.pipeline.parameters.faults import show

MOST_RUNS = 10_000  # of one sweep
_Value = bool | int | float | str | list[int | float | str]
Sweep = Annotated[
    dict[
        Annotated[str, Field(pattern=r"^[a-z_]\w*(\.\w+)*$")],
        Annotated[list[_Value], Field(min_length=1, max_length=MOST_RUNS)],
    ],
    Field(min_length=1),
]
_FORM = "keys of a run, as train.learning_rate, each with a list of values"
_KNOWN: TypeAdapter[Any] = TypeAdapter(Sweep)

Points = dict[str, dict[str, Any]]  # what is added to the run's name → values by dotted key


def expand(runs: Any) -> tuple[Any, list[str]]:
    """Runs with every sweep written out, and the faults of sweeps; a run that starts from a sweep is one as well."""
    if not isinstance(runs, Mapping) or not any(_sweep(entry) is not None for entry in runs.values()):
        return runs, []
    faults: list[str] = []
    points = {name: _points(name, _sweep(entry), faults) for name, entry in runs.items()}
    if faults:
        return runs, faults
    expanded: dict[str, Any] = {}
    for name, entry in runs.items():
        for made, values in _made(name, entry, points):
            if made in expanded or (made != name and made in runs):
                faults.append(f"runs.{name}.sweep: got the run {made!r} twice, expected values with names of their own")
            expanded[made] = values
    return expanded, faults


def _sweep(entry: Any) -> Any:
    return entry.get("sweep") if isinstance(entry, Mapping) else None


def _points(name: str, sweep: Any, faults: list[str]) -> Points:
    """Every point of a grid by what it adds to the name."""
    if sweep is None:
        return {"": {}}
    try:
        _KNOWN.validate_python(sweep)
    except ValidationError:
        faults.append(f"runs.{name}.sweep: got {show(sweep)}, expected {_FORM}")
        return {}
    if (size := prod(map(len, sweep.values()))) > MOST_RUNS:
        faults.append(f"runs.{name}.sweep: got {size} runs, expected at most {MOST_RUNS}; leave values out")
        return {}
    labels = _labels(list(sweep))
    grid = [dict(zip(sweep, values, strict=True)) for values in product(*sweep.values())]
    found = {"".join(f"-{labels[key]}{_word(value)}" for key, value in point.items()): point for point in grid}
    if len(found) < size:
        faults.append(f"runs.{name}.sweep: got {show(sweep)}, expected values with names of their own, none twice")
    return found


def _labels(keys: list[str]) -> dict[str, str]:
    """The last part of each key, and all of it where two end alike."""
    short = [key.rpartition(".")[2] for key in keys]
    return {
        key: last if short.count(last) == 1 else key.replace(".", "_") for key, last in zip(keys, short, strict=True)
    }


def _word(value: Any) -> str:
    """A value as a part of a name: 0.04 is 0_04."""
    text = "_".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return re.sub(r"[^A-Za-z0-9_-]", "_", text)


def _made(name: str, entry: Any, points: Mapping[str, Points]) -> Iterator[tuple[str, Any]]:
    """The runs that one entry stands for."""
    start = entry.get("from") if isinstance(entry, Mapping) else None
    starts = points.get(start, {"": {}}) if isinstance(start, str) and start != name else {"": {}}
    for (before, _), (own, values) in product(starts.items(), points[name].items()):
        made = {key: value for key, value in entry.items() if key != "sweep"} if isinstance(entry, Mapping) else entry
        if before:
            made["from"] = f"{start}{before}"
        for key, value in values.items():
            made = _with(made, key.split("."), value)
        yield f"{name}{before}{own}", made


def _with(entry: Mapping[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    """A copy with one value, however deep it lies."""
    first, *rest = path
    below = entry.get(first)
    return {**entry, first: _with(below if isinstance(below, Mapping) else {}, rest, value) if rest else value}


def written_out(text: str) -> str:
    """A file's text with the runs of its sweeps in their place; all that stands above and below stays."""
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    key, node = next((key, node) for key, node in root.value if key.value == "runs")
    runs, faults = expand(yaml.safe_load(text)["runs"])
    if faults:
        raise PascalError("\n".join(faults))
    lines = [f"\n  {name}: {_flow(entry)}" for name, entry in runs.items()]
    return f"{text[: key.start_mark.index]}runs:{''.join(lines)}{text[_end(node) :]}"


def _end(node: yaml.Node) -> int:
    """Where a node's own text ends: a mapping of lines reaches over the comments that follow it."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def _flow(entry: Any) -> str:
    return str(yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=10**6)).strip()


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:] or ["params.yaml"]):
        write_text(file, written_out(file.read_text(encoding="utf-8")))
