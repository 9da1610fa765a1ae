"""`adapt`: the Adaptive Layerwise method, by the stage that reads each key (Algorithms 3 and 4)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pascal.adapt.bounds import k_fault, moments_fault
from pascal.pipeline.parameters.base import Count, Level, LevelList, Part, Seed, Several
from pascal.pipeline.parameters.networks import count_layers, wrong_length

if TYPE_CHECKING:
    from pascal.pipeline.parameters.runs import Params, Run


class Histograms(Part):
    """which images the histograms are of"""

    images: Count = Field(description="training images behind the histograms")


class Assignment(Part):
    """how levels follow from histograms"""

    clusters: int = Field(ge=1, le=1000, description="the paper's χ")
    values: Several[Level] = Field(description="one level for each cluster")
    k: float = Field(
        gt=0, le=1e6, description="less than the layers (or bins); a bin is empty below k over their number"
    )
    threshold_over: Literal["layers", "bins"] = Field("layers", description="what k is divided by")
    moments: Literal["levels", "frequencies"] = Field(description="of what skewness and kurtosis are taken")
    order: Literal["metric", "reversed", "random"] = Field(
        "metric", description="others are controls with the same levels"
    )
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


class Adapt(Histograms, Assignment, GivenLevels, Retraining):
    """the Adaptive Layerwise method"""


_BY_METRIC = sorted({*Histograms.model_fields, *Assignment.model_fields})


def faults(run: "Run", params: "Params") -> Iterator[str]:
    """What one key alone does not show."""
    where, settings, adapt = f"runs.{run.name}", run.settings, run.settings.adapt
    if adapt is None or run.start is None:
        return
    if adapt.p == 0 and settings.weights is None:
        yield f"{where}.adapt.p: got 0, expected more: only weights trained elsewhere need no retraining"
    fewest, why = (2, "some to retrain, some to finetune") if adapt.p else (1, "to finetune")
    if settings.train.epochs < fewest:
        yield f"{where}.train.epochs: got {settings.train.epochs}, expected at least {fewest}: {why}"
    if layers := count_layers(settings.network):
        yield from _levels(f"{where}.adapt", run, adapt, layers)


def _levels(where: str, run: "Run", adapt: Adapt, layers: int) -> Iterator[str]:
    if adapt.levels is not None:
        for key in _BY_METRIC:
            if key in run.written.get("adapt", {}):
                yield f"{where}.{key}: got {getattr(adapt, key)!r} beside levels, expected one or the other"
        if len(adapt.levels) != layers:
            yield f"{where}.levels: {wrong_length(adapt.levels, layers, run.settings.network)}"
        return
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
