"""assign: histogram.csv → terms of the metric (metric.csv), other readings of it (metric_by_k.csv), levels.json."""

from dataclasses import asdict
from itertools import product

from lib.columns import METRIC, METRIC_BY_K
from lib.stage import read_rows, stage, write_rows
from pascal.adapt import assign_levels, defined_moments, layer_metrics, reorder_levels, write_levels

KS = (1.0, 0.75, 0.5)  # of the appendix's figure

with stage(snakemake) as params:
    histograms: dict[str, list[int]] = {}
    for row in read_rows(snakemake.input.histogram):
        histograms.setdefault(row["layer"], []).append(int(row["count"]))
    terms = layer_metrics(histograms, params["adapt.k"], params["adapt.threshold_over"], params["adapt.moments"])
    metrics = {layer: term.metric for layer, term in terms.items()}
    levels = assign_levels(metrics, params["adapt.values"])
    levels = reorder_levels(metrics, levels, params["adapt.order"], params["adapt.order_seed"])
    rows = [{"layer": name, **asdict(t), "metric": t.metric, "level": levels[name]} for name, t in terms.items()]
    write_rows(snakemake.output.metric, METRIC, rows)
    others = [
        {"moments": moments, "k": k, "layer": name, "metric": term.metric}
        for moments, k in product(defined_moments(histograms), KS)
        for name, term in layer_metrics(histograms, k, params["adapt.threshold_over"], moments).items()
    ]
    write_rows(snakemake.output.by_k, METRIC_BY_K, others)
    write_levels(snakemake.output.levels, levels)
