"""Columns of the files that two stages write."""

HISTOGRAM = ("layer", "level", "count")
METRIC = ("layer", "agreement", "skewness", "kurtosis", "metric", "level")
METRIC_BY_K = ("moments", "k", "layer", "metric")
