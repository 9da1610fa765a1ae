"""`histogram.csv` as the metric reads it."""

from os import PathLike

from pascal.pipeline.stage import read_rows


def read_histograms(path: str | PathLike[str]) -> dict[str, list[int]]:
    """Neurons per level, by layer in forward order."""
    histograms: dict[str, list[int]] = {}
    for row in read_rows(path):
        histograms.setdefault(row["layer"], []).append(int(row["count"]))
    return histograms
