"""`histogram.csv` as the metric reads it."""

from os import PathLike

from pascal.pipeline.stage import read_rows, reading


def read_histograms(path: str | PathLike[str]) -> dict[str, list[int]]:
    """Neurons per level, by layer in forward order."""
    histograms: dict[str, list[int]] = {}
    rows = read_rows(path, ("layer", "level", "count"))
    with reading(path):
        for row in rows:
            counts = histograms.setdefault(row["layer"], [])
            if int(row["level"]) != len(counts) or int(row["count"]) < 0:
                raise ValueError(f"{row['layer']} has level {row['level']} with count {row['count']}")
            counts.append(int(row["count"]))
    return histograms
