"""assign: histogram.csv → terms of the metric (metric.csv), other readings of it (metric_by_k.csv), levels.json."""

from dataclasses import asdict

from pascal.adapt import assign_levels, layer_metrics, metric_readings, reorder_levels, write_levels
from pascal.files import write_rows
from pascal.pipeline.histograms import read_histograms
from pascal.pipeline.stage import stage

with stage(snakemake) as params:
    adapt = params.adapt
    histograms = read_histograms(snakemake.input.histogram)
    terms = layer_metrics(histograms, adapt.k, adapt.threshold_over, adapt.moments)
    metrics = {layer: term.metric for layer, term in terms.items()}
    levels = assign_levels(metrics, adapt.values)
    levels = reorder_levels(metrics, levels, adapt.method, adapt.order_seed)
    rows = [{"layer": name, **asdict(t), "metric": t.metric, "level": levels[name]} for name, t in terms.items()]
    write_rows(snakemake.output.metric, rows[0], rows)
    readings = metric_readings(histograms, adapt.threshold_over)
    write_rows(snakemake.output.by_k, readings[0], readings)
    write_levels(snakemake.output.levels, levels)
