"""`adapt`: which levels, by the stage that reads each key: the metric (Algorithms 3 and 4), a plan, or a list."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from pascal.adapt.bounds import k_fault, moments_fault
from pascal.pipeline.parameters.base import Count, Level, LevelList, Part, Seed, Several
from pascal.pipeline.parameters.networks import count_layers, wrong_length
from pascal.pipeline.parameters.plan import Planning, plan_faults
from pascal.pipeline.parameters.tune import Tuning, tuning_faults

if TYPE_CHECKING:
    from pascal.pipeline.parameters.runs import Params, Run


class Histograms(Part):
    """which images the histograms are of"""

    images: Count = Field(description="training images behind the histograms, and those that a plan is made on")


class Assignment(Part):
    """how levels follow from histograms"""

    method: Literal["metric", "plan", "given", "random", "reversed"] = Field(
        "metric",
        description="the paper's metric, a plan within a budget, given levels, or controls: the metric's levels in "
        "another order",
    )
    clusters: int = Field(ge=1, le=1000, description="the paper's χ")
    values: Several[Level] = Field(description="one level for each cluster; those that a plan chooses from")
    k: float = Field(
        gt=0, le=1e6, description="less than the layers (or bins); a bin is empty below k over their number"
    )
    threshold_over: Literal["layers", "bins"] = Field("layers", description="what k is divided by")
    moments: Literal["levels", "frequencies"] = Field(description="of what skewness and kurtosis are taken")
    order_seed: Seed = Field(0, description="which random order")


class GivenLevels(Part):
    """levels by hand"""

    levels: LevelList | None = Field(None, description="in the place of clusters and metric, one for each layer")


class Change(Part):
    """when levels change"""

    p: float = Field(
        ge=0, lt=1, description="the share of the epochs with uniform levels; 0 for weights trained elsewhere"
    )


class Retraining(Change):
    """what is trained before levels change"""

    reuse: bool = Field(description="whether the start's own training serves, where it is the same")


class Adapt(Histograms, Assignment, Planning, GivenLevels, Retraining, Tuning):
    """levels per layer, and what is trained with them"""


class Planned(Histograms, Assignment, Planning):
    """how a plan is made"""


class Finetuning(Tuning, Change):
    """what is trained after levels change"""

    method: str = "metric"


_CHOSEN = sorted({*Histograms.model_fields, *Assignment.model_fields, *Planning.model_fields} - {"method"})


def with_method(adapt: Mapping[str, Any]) -> dict[str, Any]:
    """A run's own `adapt`: levels by hand say which method they are."""
    given = {"method": "given"} if adapt.get("levels") is not None else {}
    return {**given, **adapt}


def faults(run: "Run", params: "Params") -> Iterator[str]:
    """What one key alone does not show."""
    adapt = run.settings.adapt
    if adapt is None or run.start is None:
        return
    yield from tuning_faults(run, adapt)
    if layers := count_layers(run.settings.network):
        yield from _levels(f"runs.{run.name}.adapt", run, adapt, layers)


def _levels(where: str, run: "Run", adapt: Adapt, layers: int) -> Iterator[str]:
    if adapt.levels is not None or adapt.method == "given":
        yield from _given(where, run, adapt, layers)
    elif adapt.method == "plan":
        yield from plan_faults(where, adapt, layers)
        if adapt.budget == "metric":
            yield from _clusters(where, adapt, layers, run)
    else:
        yield from _unplanned(where, run, adapt)
        yield from _clusters(where, adapt, layers, run)


def _given(where: str, run: "Run", adapt: Adapt, layers: int) -> Iterator[str]:
    if adapt.levels is None:
        yield f"{where}.levels: got none, expected {layers}, one for each layer: method is 'given'"
        return
    if adapt.method != "given":
        yield f"{where}.method: got {adapt.method!r} beside levels, expected 'given', or no levels"
    for key in _CHOSEN:
        if key in run.written.get("adapt", {}):
            yield f"{where}.{key}: got {getattr(adapt, key)!r} beside levels, expected one or the other"
    if len(adapt.levels) != layers:
        yield f"{where}.levels: {wrong_length(adapt.levels, layers, run.settings.network)}"


def _unplanned(where: str, run: "Run", adapt: Adapt) -> Iterator[str]:
    for key in Planning.model_fields:
        if key in run.written.get("adapt", {}):
            got = f"got {getattr(adapt, key)!r} with method {adapt.method!r}"
            yield f"{where}.{key}: {got}, expected it with 'plan' alone"


def _clusters(where: str, adapt: Adapt, layers: int, run: "Run") -> Iterator[str]:
    if adapt.clusters > layers:
        of_network = f"the {layers} layers of {run.settings.network}"
        yield f"{where}.clusters: got {adapt.clusters}, expected at most {of_network}"
    if len(adapt.values) != adapt.clusters:
        got = f"got {list(adapt.values)}, expected {adapt.clusters} levels, one for each of the clusters"
        yield f"{where}.values: {got}"
    yield from _metric(where, adapt, layers, run)


def _metric(where: str, adapt: Adapt, layers: int, run: "Run") -> Iterator[str]:
    """What stage assign would refuse, after the training of the start; its histogram of L levels has L + 1 bins."""
    levels = run.settings.levels
    fewest = levels if isinstance(levels, int) else min(levels)
    bins, coarsest = fewest + 1, f"a layer at L={fewest}"
    of_bins = adapt.threshold_over == "bins"
    parts, named = (bins, f"bins of {coarsest}") if of_bins else (layers, f"layers of {run.settings.network}")
    if fault := k_fault(adapt.k, parts, named):
        yield f"{where}.k: {fault}"
    if fault := moments_fault(adapt.moments, bins, coarsest):
        yield f"{where}.moments: {fault}"
