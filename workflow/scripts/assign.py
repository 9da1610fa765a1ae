"""assign: histogram.csv → terms of the metric (metric.csv), other readings of it (metric_by_k.csv), levels.json."""

from dataclasses import asdict

from lib.columns import METRIC, METRIC_BY_K
from lib.histograms import read_histograms
from lib.stage import stage, write_rows
from pascal.adapt import assign_levels, layer_metrics, metric_readings, reorder_levels, write_levels

with stage(snakemake) as params:
    histograms = read_histograms(snakemake.input.histogram)
    terms = layer_metrics(histograms, params["adapt.k"], params["adapt.threshold_over"], params["adapt.moments"])
    metrics = {layer: term.metric for layer, term in terms.items()}
    levels = assign_levels(metrics, params["adapt.values"])
    levels = reorder_levels(metrics, levels, params["adapt.order"], params["adapt.order_seed"])
    rows = [{"layer": name, **asdict(t), "metric": t.metric, "level": levels[name]} for name, t in terms.items()]
    write_rows(snakemake.output.metric, METRIC, rows)
    write_rows(snakemake.output.by_k, METRIC_BY_K, metric_readings(histograms, params["adapt.threshold_over"]))
    write_levels(snakemake.output.levels, levels)
