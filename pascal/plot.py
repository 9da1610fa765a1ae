"""The paper's figures from a network or a record in one call; each returns a matplotlib figure.

`pascal.plot.save(figure, "levels.png")` writes it; a notebook shows it by itself.
"""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from torch import Tensor, nn

from pascal.adapt import assign_levels, layer_metrics, level_histograms
from pascal.errors import PascalError
from pascal.files import AnyPath
from pascal.graph import SpikingNetwork, convert, get_levels, measure
from pascal.graph.observe import observe
from pascal.inference import check_model, image_batches, undisturbed
from pascal.report.figures.accuracy import pareto_figure
from pascal.report.figures.cost import components_figure
from pascal.report.figures.equivalence import equivalence_figure
from pascal.report.figures.layers import histogram_figure, spikes_figure
from pascal.report.figures.metric import metric_figure
from pascal.report.figures.neuron import pasc_figure, qcfs_figure
from pascal.report.style import save_figure
from pascal.report.trace import EXAMPLE_CURRENTS, trace_pasc
from pascal.workload import LayerWorkload

__all__ = ["energy", "equivalence", "levels", "metric", "neuron", "pareto", "qcfs", "save", "spikes"]


def levels(ann: nn.Module, batches: Any) -> Figure:
    """How often each level is taken, one panel per layer: layers that crowd at one level need few."""
    rows = [
        {"layer": layer, "level": level, "count": int(count)}
        for layer, counts in level_histograms(check_model(ann, "ann"), batches).items()
        for level, count in enumerate(counts)
    ]
    return histogram_figure(rows)


def metric(ann: nn.Module, batches: Any, k: float = 0.5, values: tuple[int, ...] = (4, 2, 1)) -> Figure:
    """The AL metric of each layer, with the levels that its cluster gets."""
    histograms = level_histograms(check_model(ann, "ann"), batches)
    terms = layer_metrics({layer: counts.tolist() for layer, counts in histograms.items()}, k)
    found = {layer: one.metric for layer, one in terms.items()}
    assigned = assign_levels(found, values=list(values))
    return metric_figure([{"layer": layer, "metric": found[layer], "level": assigned[layer]} for layer in found])


def spikes(model_or_record: Any, batches: Any = None) -> Figure:
    """Spikes per neuron in each layer, of a network on images or of what `measure` or `cost` returned."""
    name, workloads = _workloads(model_or_record, batches)
    rows = [
        {"run": name, "seed": 0, "network": name, "layer": one.activation, "spikes_per_neuron": one.spikes_per_neuron}
        for one in workloads
        if one.neurons and one.spikes_per_neuron is not None
    ]
    return spikes_figure(rows)


def equivalence(ann: nn.Module, batches: Any, snn: SpikingNetwork | None = None) -> Figure:
    """Spike count of each neuron of the SNN against its level in the ANN; without `snn`, PASC beside plain IF."""
    check_model(ann, "ann")
    timesteps = max(get_levels(ann).values(), default=1)
    plain = {"plain IF": convert(ann, neuron="if", timesteps=timesteps)} if snn is None else {}
    compared = {"PASC": convert(ann, engine="counts"), **plain} if snn is None else {snn.neuron.upper(): snn}
    found: dict[tuple[str, int, int], int] = {}
    with undisturbed(ann):
        for images in image_batches(batches):
            mine = observe(ann, images).counts
            for name, network in compared.items():
                _add(found, name, mine, observe(network, images).counts)
    if not found:
        raise PascalError("batches: got no images, expected at least one batch")
    rows = [{"neuron": n, "ann_count": a, "snn_count": s, "neurons": total} for (n, a, s), total in found.items()]
    return equivalence_figure(rows)


def neuron(currents: Any = None, step: float = 1.0, levels: int = 4) -> Figure:
    """One PASC neuron in the three phases of Algorithm 1."""
    given = EXAMPLE_CURRENTS if currents is None else [float(current) for current in currents]
    return pasc_figure(trace_pasc(given, step=step, levels=levels), step)


def qcfs(levels: int = 4, threshold: float = 0.25) -> Figure:
    """The activation's staircase beside the clipped ReLU."""
    return qcfs_figure(levels, threshold)


def energy(record: Any) -> Figure:
    """Energy per image of SNN and ANN variants, from `pascal.cost`."""
    if not hasattr(record, "energy_pj"):
        raise PascalError(f"record: got {type(record).__name__}, expected what pascal.cost returns")
    from pascal.energy.tables import energy_rows

    return components_figure(energy_rows(record.workloads, record.prices))


def pareto(points: Any, label: str = "cost") -> Figure:
    """Accuracy against cost with the front of those that no other beats: a `level_front`, or rows with name, cost,
    accuracy."""
    rows = points.rows() if hasattr(points, "rows") else list(points)
    table = pd.DataFrame(rows)
    if table.empty or not {"name", "cost"} <= set(table):
        raise PascalError("points: expected what pascal.level_front returns, or rows with name, cost and accuracy")
    shown = "accuracy" if "accuracy" in table and table.accuracy.notna().any() else "agreement"
    if shown not in table:
        raise PascalError("points: has neither accuracy nor agreement, expected one of them")
    names = table.name + " " + table.groupby("name").cumcount().add(1).astype(str)
    unit = str(table.unit.iloc[0]) if "unit" in table else label
    return pareto_figure(table.assign(run=names, seed=0, panel=shown, accuracy=table[shown]), unit)


def save(figure: Figure, path: AnyPath) -> list[Path]:
    """Write a figure as PNG and PDF beside each other; the suffix of `path` is not needed."""
    return save_figure(figure, Path(path).with_suffix("") if Path(path).suffix in (".png", ".pdf") else path)


def _workloads(model_or_record: Any, batches: Any) -> tuple[str, list[LayerWorkload]]:
    if isinstance(model_or_record, nn.Module):
        if batches is None:
            raise PascalError("batches: got none, expected images for the network to spike on")
        return type(model_or_record).__name__, measure(model_or_record, batches)
    return getattr(model_or_record, "network", "network"), list(getattr(model_or_record, "workloads", model_or_record))


def _add(found: dict[tuple[str, int, int], int], name: str, ann: dict[str, Tensor], snn: dict[str, Tensor]) -> None:
    """Neurons by level and count, added up over layers."""
    for path, count in ann.items():
        most = int(max(count.max(), snn[path].max())) + 1
        pairs = (count.long() * most + snn[path].to(count.device).long()).flatten().bincount(minlength=most * most)
        for place in pairs.nonzero().flatten().tolist():
            key = (name, place // most, place % most)
            found[key] = found.get(key, 0) + int(pairs[place])
