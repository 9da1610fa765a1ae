"""What runs begin with: the run that one starts from, the network, and weights trained elsewhere."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pascal.pipeline.parameters.networks import count_layers, network_fault, wrong_length

if TYPE_CHECKING:
    from pascal.pipeline.parameters.runs import Params, Run


def faults(name: str, runs: Mapping[str, Any]) -> Iterator[str]:
    """Names along `from` that lead nowhere, back, or to an adaptive run."""
    start = runs[name].get("from")
    if start is None:
        return
    if start not in runs:
        others = ", ".join(other for other in runs if other != name)
        yield f"runs.{name}.from: got {start!r}, expected the name of a run: {others}"
    elif cycle := _cycle(name, runs):
        yield f"runs.{name}.from: got {start!r}, expected no cycle, but {' → '.join(cycle)}"
    elif "from" in runs[start]:
        yield f"runs.{name}.from: got {start!r}, itself adaptive; expected a uniform run, one without `from`"
    elif runs[start].get("calibrate") is not None:
        yield f"runs.{name}.from: got {start!r}, which is calibrated, expected a run that is trained; give it levels"


def run_faults(run: "Run", params: "Params") -> Iterator[str]:
    """What one key alone does not show; an adaptive run has all of this from its start."""
    if run.start is not None:
        return
    settings, where = run.settings, f"runs.{run.name}"
    if settings.dataset not in params.datasets:
        known = ", ".join(params.datasets)
        yield f"{where}.dataset: got {settings.dataset!r}, expected one of {known}; `datasets` lists what there is"
    if ":" in settings.network:
        yield from _library(where, run)
    if fault := network_fault(settings.network):
        yield f"{where}.network: {fault}"
    elif not isinstance(settings.levels, int) and len(settings.levels) != count_layers(settings.network):
        yield f"{where}.levels: {wrong_length(settings.levels, count_layers(settings.network), settings.network)}"


def _library(where: str, run: "Run") -> Iterator[str]:
    """Networks of timm and torchvision come as they are."""
    for key, only in {"width": 1, "pool": "max"}.items():
        if (got := getattr(run.settings, key)) != only:
            yield f"{where}.{key}: got {got!r}, expected none: {run.settings.network} comes as it is, leave {key} out"


def _cycle(name: str, runs: Mapping[str, Any]) -> list[str]:
    """The names along `from` back to `name`, or nothing."""
    path = [name]
    while (following := runs.get(path[-1], {}).get("from")) is not None:
        path.append(following)
        if following == name:
            return path
        if path.count(following) > 1:
            return []
    return []
