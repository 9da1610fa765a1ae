"""Where the AL metric is right: its rank correlation with what each layer's levels are measured to do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import spearmanr
from torch import nn

from pascal.planning.baselines import al_metrics
from pascal.planning.budget import HELD_OUT
from pascal.planning.fisher import Fisher
from pascal.planning.plan import VALUES, make_planner


@dataclass(frozen=True)
class MetricStudy:
    """One row per layer and level; Spearman's correlations by level."""

    rows: tuple[dict[str, Any], ...]
    correlation: dict[int, float]  # of the metric with the measured loss: −1 where the metric is right
    fisher_correlation: dict[int, float]  # of the Fisher score with the measured loss: +1 where that is right
    point: int  # the uniform levels around which all was measured
    images: int


def metric_study(
    ann: nn.Module, batches: Iterable[Any], values: Sequence[int] = VALUES, seed: int = 0, bar: bool = False
) -> MetricStudy:
    """The metric of each layer beside the loss of giving it fewer levels, around a uniform operating point.

    The metric gives the fewest levels to the layers where it is highest, so it is right where these lose least.
    """
    planner = make_planner(ann, batches, "timesteps", values, "kl", 0, HELD_OUT, seed, bar)
    search, judge = planner.search, planner.search.judge
    middle = sorted(search.values)[len(search.values) // 2]
    point = search.uniform(middle)
    metrics = al_metrics(search)
    lower = {v: search.fitted(dict.fromkeys(point, v), point) for v in search.values if v < middle}
    changes = [(path, setting) for settings in lower.values() for path, setting in settings.items()]
    measured, fisher = judge.sensitivity(point, changes), Fisher(judge, seed)(point, changes)
    rows = tuple(
        {
            "layer": path,
            "levels": setting.levels,
            "metric": metrics[path],
            "loss": measured.score((path, setting)).mean,
            "error": measured.score((path, setting)).error,
            "fisher": fisher.score((path, setting)).mean,
        }
        for path, setting in changes
    )
    return MetricStudy(
        rows,
        {levels: _spearman(rows, levels, "metric") for levels in lower},
        {levels: _spearman(rows, levels, "fisher") for levels in lower},
        middle,
        len(judge.images),
    )


def _spearman(rows: Iterable[dict[str, Any]], levels: int, name: str) -> float:
    some = [row for row in rows if row["levels"] == levels and row[name] == row[name]]  # a constant layer has no metric
    return float(spearmanr([row[name] for row in some], [row["loss"] for row in some]).statistic)
