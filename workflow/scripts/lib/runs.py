"""The run table: every run with its parameters resolved, and the part of them that each stage depends on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Settings = dict[str, Any]
Kind = Literal["uniform", "derived", "given"]  # levels: those of the run, by the metric, or a list by hand

_SECTIONS = ("train", "adapt", "verify", "evaluate", "workload", "energy", "hardware")
_ARCHITECTURE = ("dataset", "network", "width", "pool")
_INHERITED = (*_ARCHITECTURE, "levels", "weights", "train", "threads", "device")  # from the run that one starts from
_ORDER = ("order", "order_seed")
_SHOWING = ("threads", "device", "train.workers")
_TRAINING = (*_ARCHITECTURE, "levels", "weights", "train", "threads", "device")

# What each stage depends on; a dot leads into a section.
STAGES: dict[str, tuple[str, ...]] = {
    "train": _TRAINING,
    "retrain": (*_TRAINING, "adapt.p", "adapt.reuse"),
    "finetune": (*_TRAINING, "adapt.p"),
    "histogram": (*_ARCHITECTURE, "adapt.images", *_SHOWING),
    "assign": tuple(f"adapt.{key}" for key in ("clusters", "values", "k", "threshold_over", "moments", *_ORDER)),
    "given": (*_ARCHITECTURE, "levels", "adapt.levels"),
    "convert": _ARCHITECTURE,
    "verify": (*_ARCHITECTURE, "verify", *_SHOWING),
    "evaluate": (*_ARCHITECTURE, "evaluate", *_SHOWING),
    "workload": (*_ARCHITECTURE, "workload", "threads"),
    "energy": ("energy",),
    "hardware": ("hardware",),
}


@dataclass(frozen=True)
class Run:
    """One entry of `runs`; `start` names the uniform run whose network it starts from."""

    name: str
    start: str | None
    kind: Kind
    settings: Settings

    def stage(self, stage: str) -> Settings:
        """The parameters that one stage depends on."""
        return {key: value for key in STAGES[stage] if (value := _look_up(self.settings, key)) is not None}


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> Settings:
    """`above` over `below`, mapping by mapping; lists and numbers replace each other."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def run_table(params: Mapping[str, Any]) -> dict[str, Run]:
    """Every run of `params.yaml`, in its order."""
    return {name: _run(name, entry, params) for name, entry in params["runs"].items()}


def _run(name: str, entry: Mapping[str, Any], params: Mapping[str, Any]) -> Run:
    start = entry.get("from")
    defaults = {"width": 1.0, "pool": "max"} | params["defaults"]
    inherited = {key: value for key, value in params["runs"].get(start, {}).items() if key in _INHERITED}
    settings = merge(merge(defaults, inherited), entry)
    del settings["seeds"]
    settings.pop("from", None)
    if start is None:
        kind: Kind = "uniform"
        settings.pop("adapt")
    else:
        kind = "given" if "levels" in entry["adapt"] else "derived"
        settings["adapt"] = {"threshold_over": "layers", "order": "metric", "order_seed": 0} | settings["adapt"]
    return Run(name, start, kind, settings)


def _look_up(settings: Settings, key: str) -> Any:
    section, _, rest = key.partition(".")
    value = settings.get(section)
    return value.get(rest) if rest and value is not None else value
