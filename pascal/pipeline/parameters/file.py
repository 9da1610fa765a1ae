"""A parameter file: the model of it, and the way from its text to checked and resolved parameters."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, ValidationError

from pascal.pipeline.errors import ParameterError
from pascal.pipeline.parameters import adapt, calibrate, costs, data, rivals, starts, train
from pascal.pipeline.parameters.base import Part
from pascal.pipeline.parameters.data import Dataset
from pascal.pipeline.parameters.faults import explain
from pascal.pipeline.parameters.names import Name, RunName, clashes
from pascal.pipeline.parameters.runs import AdaptiveRun, Defaults, Params, Settings, UniformRun, make_run
from pascal.pipeline.parameters.strict_yaml import read_yaml
from pascal.pipeline.parameters.sweep import expand

MOST_TOLD = 50  # faults


def _tag(entry: Any) -> str:
    return "AdaptiveRun" if isinstance(entry, Mapping) and "from" in entry else "UniformRun"


RunEntry = Annotated[
    Annotated[UniformRun, Tag("UniformRun")] | Annotated[AdaptiveRun, Tag("AdaptiveRun")], Discriminator(_tag)
]


class File(Part):
    """a mapping with the keys defaults, datasets and runs"""

    defaults: Defaults
    datasets: dict[Name, Dataset] = Field(min_length=1, description="from the names that runs use to settings")
    runs: dict[RunName, RunEntry] = Field(min_length=1, description="from names to runs")


def load_params(path: Path) -> Params:
    """The parameters of a file, or a ParameterError that lists every fault with the file's name."""
    content, swept = _expanded(read_yaml(path))
    if swept:
        raise _error(path, swept)
    try:
        file = File.model_validate(content)
    except ValidationError as error:
        raise _error(path, explain(error, File)) from None
    faults = [*clashes("runs", file.runs), *clashes("datasets", file.datasets), *_datasets(file)]
    sound = {}
    for name in file.runs:
        if told := list(starts.faults(name, content["runs"])):
            faults += told
            continue
        try:
            sound[name] = make_run(name, content)
        except ValidationError as error:
            faults += [f"runs.{name}.{fault}" for fault in explain(error, Settings)]
    params = Params(file.defaults.seeds, file.defaults, _named(file.datasets), sound)
    for run in sound.values():
        faults += [*starts.run_faults(run, params), *train.faults(run, params), *adapt.faults(run, params)]
        faults += [*calibrate.faults(run), *costs.faults(run), *rivals.faults(run)]
    if faults:
        raise _error(path, faults)
    return params


def _expanded(content: Any) -> tuple[Any, list[str]]:
    """The content with runs in the place of sweeps."""
    if not isinstance(content, Mapping):
        return content, []
    runs, faults = expand(content.get("runs"))
    return ({**content, "runs": runs} if "runs" in content else content), faults


def _datasets(file: File) -> Iterator[str]:
    for name, dataset in file.datasets.items():
        yield from data.faults(name, dataset)
    if file.defaults.adapt.levels is not None:
        got = list(file.defaults.adapt.levels)
        yield f"defaults.adapt.levels: got {got}, expected it in a run: a list fits one network alone"


def _named(datasets: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Every data set with its source, which is its name where nothing is said."""
    return {
        name: dataset if dataset.source else dataset.model_copy(update={"source": name})
        for name, dataset in datasets.items()
    }


def _error(path: Path, faults: list[str]) -> ParameterError:
    told = list(dict.fromkeys(faults))
    more = [f"and {len(told) - MOST_TOLD} faults more"] if len(told) > MOST_TOLD else []
    return ParameterError("\n".join(f"{path}: {fault}" for fault in [*told[:MOST_TOLD], *more]))
