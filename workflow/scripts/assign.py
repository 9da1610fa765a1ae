"""assign: histogram.csv → terms of the metric (metric.csv), the metric for other k (metric_by_k.csv), levels.json."""

from dataclasses import asdict

from lib.columns import METRIC, METRIC_BY_K
from lib.stage import read_rows, stage, write_rows
from pascal.adapt import assign_levels, layer_metrics, reorder_levels, write_levels

KS = (1.0, 0.75, 0.5)  # of the appendix's figure

with stage(snakemake) as params:
    histograms: dict[str, list[int]] = {}
    for row in read_rows(snakemake.input.histogram):
        histograms.setdefault(row["layer"], []).append(int(row["count"]))
    readings = {"over": params["adapt.threshold_over"], "moments": params["adapt.moments"]}
    terms = layer_metrics(histograms, params["adapt.k"], **readings)
    metrics = {layer: term.metric for layer, term in terms.items()}
    levels = assign_levels(metrics, params["adapt.values"])
    levels = reorder_levels(metrics, levels, params["adapt.order"], params["adapt.order_seed"])
    rows = [{"layer": name, **asdict(t), "metric": t.metric, "level": levels[name]} for name, t in terms.items()]
    write_rows(snakemake.output.metric, METRIC, rows)
    by_k = [(k, layer_metrics(histograms, k, **readings)) for k in KS]
    others = [{"k": k, "layer": name, "metric": t.metric} for k, found in by_k for name, t in found.items()]
    write_rows(snakemake.output.by_k, METRIC_BY_K, others)
    write_levels(snakemake.output.levels, levels)
