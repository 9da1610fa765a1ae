from .histogram import level_histograms
from .levels import assign_levels, read_levels, reorder_levels, write_levels
from .metric import MetricTerms, al_metric, layer_metrics, metric_readings, metric_terms

__all__ = [
    "MetricTerms",
    "al_metric",
    "assign_levels",
    "layer_metrics",
    "level_histograms",
    "metric_readings",
    "metric_terms",
    "read_levels",
    "reorder_levels",
    "write_levels",
]
