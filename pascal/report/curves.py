"""Curves of all runs in one file each: what `dvc plots` draws, a colour for each run, a dash for each version."""

import pandas as pd

from pascal.report.registry import Curve
from pascal.report.results import Results, gather
from pascal.report.rows import over_seeds


def curve_table(results: Results, curve: Curve) -> pd.DataFrame:
    """Means over seeds: run, what it is over, the quantity."""
    columns = ["run", curve.over, curve.quantity]
    rows = gather(results, curve.file)
    return over_seeds(rows, columns[:2], columns[2:])[columns] if len(rows) else pd.DataFrame(columns=columns)
