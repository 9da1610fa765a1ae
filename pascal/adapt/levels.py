"""From metrics to levels: exact one-dimensional k-means (Algorithm 4, line 2), and the file `levels.json`."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any

import kmeans1d

from pascal.checks import check_several, shown
from pascal.errors import PascalError
from pascal.files import write_text
from pascal.neurons.qcfs import check_levels


def assign_levels(metrics: Mapping[str, float], values: Sequence[int]) -> dict[str, int]:
    """Cluster the layers by metric into χ = len(values) clusters; the highest metric gets the smallest level.

    Constant layers have no metric (NaN): they get the smallest level and stay out of the clustering. Where there are
    fewer distinct metrics than values, the clusters spread over the values from the smallest on.
    """
    ascending = _checked_values(values)
    if not isinstance(metrics, Mapping):
        raise PascalError(f"metrics: got {shown(metrics)}, expected the metric of each layer, by its name")
    for layer, metric in metrics.items():
        if not isinstance(metric, Real):
            raise PascalError(f"metrics: got {shown(metric)} for {layer!r}, expected a number, or NaN")
    infinite = [layer for layer, metric in metrics.items() if math.isinf(metric)]
    if infinite:
        raise PascalError(f"metrics: got infinite ones for {infinite}, expected numbers (NaN for a constant layer)")
    chosen = _levels_by_metric([metric for metric in metrics.values() if not math.isnan(metric)], ascending)
    return {layer: chosen.get(metric, ascending[0]) for layer, metric in metrics.items()}


def reorder_levels(
    metrics: Mapping[str, float], levels: Mapping[str, int], order: str, seed: int = 0
) -> dict[str, int]:
    """Controls with the same multiset of levels: `reversed` gives the highest metric the largest, `random` any.

    A metric that is worth its computation beats both of them.
    """
    if order not in ("metric", "reversed", "random"):
        raise PascalError(f"order: got {order!r}, expected 'metric', 'reversed' or 'random'")
    if order == "metric":
        return dict(levels)
    layers = sorted(levels, key=lambda layer: (math.isnan(metrics[layer]), metrics[layer]))  # constant ones highest
    values = sorted(levels.values())
    if order == "random":
        Random(seed).shuffle(values)
    chosen = dict(zip(layers, values, strict=True))
    return {layer: chosen[layer] for layer in levels}


def _levels_by_metric(metrics: list[float], ascending: list[int]) -> dict[float, int]:
    clusters = min(len(ascending), len(set(metrics)))
    if not clusters:
        return {}
    found = kmeans1d.cluster(metrics, clusters).clusters
    # Clusters are numbered upwards from the lowest metric; places count from the highest.
    places = {metric: clusters - 1 - cluster for metric, cluster in zip(metrics, found, strict=True)}
    spacing = (len(ascending) - 1) / max(clusters - 1, 1)
    return {metric: ascending[round(place * spacing)] for metric, place in places.items()}


def _checked_values(values: Sequence[int]) -> list[int]:
    for value in check_several(values, "values", "levels, one per cluster"):
        check_levels(value, "values")
    if not values or len(set(values)) != len(values):
        raise PascalError(f"values: got {list(values)}, expected different levels, one per cluster")
    return sorted(values)


def write_levels(path: str | PathLike[str], levels: Mapping[str, int]) -> None:
    """`levels.json`: one line per layer, in forward order, to be read and edited by people."""
    write_text(path, json.dumps(dict(levels), indent=2) + "\n")


def read_levels(path: str | PathLike[str], layers: Iterable[str]) -> dict[str, int]:
    """`levels.json`, checked against the names of a network's QCFS layers and given back in their order."""
    try:
        levels = json.loads(Path(path).read_text(), object_pairs_hook=lambda pairs: _unique(pairs, path))
    except (OSError, ValueError) as error:
        if isinstance(error, PascalError):
            raise
        raise PascalError(f"{path}: {error}; expected JSON that maps each layer to its levels") from error
    if not isinstance(levels, dict):
        raise PascalError(f"{path}: got {levels!r}, expected an object that maps each layer to its levels")
    layers = list(layers)
    differing = sorted(set(levels) ^ set(layers))
    if differing:
        raise PascalError(f"{path}: levels and network disagree on {differing}; rerun stage assign, or name all layers")
    return {layer: check_levels(levels[layer], f"{path}: {layer}") for layer in layers}


def _unique(pairs: list[tuple[str, Any]], path: str | PathLike[str]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PascalError(f"{path}: {twice} named twice; keep one line per layer")
    return dict(pairs)
