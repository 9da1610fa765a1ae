"""Runs: what a person writes of one, and what it comes to once defaults and the run it starts from are merged in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from pascal.pipeline.parameters.adapt import Adapt, with_method
from pascal.pipeline.parameters.base import Few, Level, LevelList, Part, Seed, Several, partial
from pascal.pipeline.parameters.calibrate import Calibrate
from pascal.pipeline.parameters.costs import Energy, Hardware
from pascal.pipeline.parameters.data import Dataset
from pascal.pipeline.parameters.measures import Evaluate, Verify, Workload
from pascal.pipeline.parameters.rivals import Compare
from pascal.pipeline.parameters.sweep import Sweep
from pascal.pipeline.parameters.train import Train

# Levels: the run's, trained or calibrated with; by the metric, by hand, by a plan.
Kind = Literal["uniform", "calibrated", "derived", "given", "planned"]


class Architecture(Part):
    """which network, of which images"""

    dataset: str = Field(description="the name of an entry of datasets")
    network: str = Field(
        pattern=r"^(vgg16|resnet18|resnet20|resnet20-a|resnet34|(timm|torchvision):[A-Za-z0-9_.-]{1,80})$",
        description="vgg16, resnet18, resnet20, resnet20-a, resnet34, timm:<name> or torchvision:<name>",
    )
    width: float = Field(1.0, gt=0, le=64, description="times the channels of the paper's networks")
    pool: Literal["max", "avg"] = "max"


class Computing(Part):
    """what a job computes with"""

    threads: Few = Field(description="the threads of each job; the same bytes come out whichever --cores is given")
    device: str = Field(pattern=r"^(auto|cpu|cuda(:[0-9]{1,4})?)$", description="auto, cpu, cuda or cuda:<number>")


class Uniform(Part):
    """levels that a training begins with"""

    levels: Annotated[Level | LevelList, Field(union_mode="left_to_right")] = Field(description="one for each layer")


class Beginning(Uniform):
    """levels and weights that a training begins with"""

    weights: str | None = Field(
        None,
        min_length=1,
        max_length=4096,
        description="the path of a safetensors file to start from, trained elsewhere; calibrate takes torch's too",
    )


class Sections(Part):
    """what the stages do"""

    train: Train
    verify: Verify
    evaluate: Evaluate
    workload: Workload
    energy: Energy
    hardware: Hardware
    compare: Compare = Compare.model_validate({})


class Defaults(Sections, Computing):
    """what every run does unless it says otherwise"""

    seeds: Several[Seed] = Field(description="every run is made once with each")
    adapt: Adapt


@partial
class _Overrides(Sections, Computing):
    pass


class Swept(Part):
    """a run, or many"""

    sweep: Sweep | None = Field(
        None,
        description="from keys of this run, as train.learning_rate, to lists of values: a run for each combination, "
        "named after what differs; runs that start from it are as many",
    )


class UniformRun(_Overrides, Beginning, Architecture, Swept):
    """a run"""

    calibrate: Calibrate | None = Field(None, description="in the place of training, for weights of a ReLU network")
    optional: bool = Field(
        False, description="whether to leave the run out, and those that start from it, while its weights are not there"
    )


@partial
class _Adapt(Adapt):
    """levels per layer, and what is trained with them"""


class AdaptiveRun(_Overrides, Swept):
    """an adaptive run; dataset, network and levels are those of the run it starts from"""

    start: str = Field(alias="from", description="the name of a uniform run")
    adapt: _Adapt


class Settings(Sections, Computing, Beginning, Architecture):
    """A run's parameters, all of them."""

    adapt: Adapt | None = None
    calibrate: Calibrate | None = None
    optional: bool = False


@dataclass(frozen=True)
class Run:
    """One entry of `runs`; `start` names the uniform run whose network it starts from."""

    name: str
    start: str | None
    kind: Kind
    settings: Settings
    written: Mapping[str, Any]  # as it stands in the file


@dataclass(frozen=True)
class Params:
    """All of a parameter file, checked and resolved."""

    seeds: tuple[int, ...]
    defaults: Defaults
    datasets: dict[str, Dataset]
    runs: dict[str, Run]


_INHERITED = {*Architecture.model_fields, *Beginning.model_fields, *Computing.model_fields, "train", "optional"}


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` over `below`, mapping by mapping; lists and numbers replace each other."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def make_run(name: str, content: Mapping[str, Any]) -> Run:
    """A run of a checked file, with defaults and its start's settings merged in."""
    entry = content["runs"][name]
    start = entry.get("from")
    inherited = {key: value for key, value in content["runs"].get(start, {}).items() if key in _INHERITED}
    own = {**entry, "adapt": with_method(entry["adapt"])} if start else entry
    settings = merge(merge(content["defaults"], inherited), own)
    for key in ("seeds", "from", *(() if start else ("adapt",))):
        settings.pop(key, None)
    resolved = Settings.model_validate(settings)
    return Run(name, start, _kind(resolved), resolved, entry)


def _kind(settings: Settings) -> Kind:
    if settings.adapt is None:
        return "uniform" if settings.calibrate is None else "calibrated"
    return {"given": "given", "plan": "planned"}.get(settings.adapt.method, "derived")  # type: ignore[return-value]
