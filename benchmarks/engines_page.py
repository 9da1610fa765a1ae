"""`python -m benchmarks.engines_page` writes the measured part of docs/engines.md from results/reference/engines."""

from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.pages import with_section
from pascal.report.tables_write import to_markdown

ROOT = Path(__file__).parents[1]
PAGE, RESULTS = ROOT / "docs" / "engines.md", ROOT / "results" / "reference" / "engines"


def main() -> None:
    """Write the section."""
    PAGE.write_text(with_section(PAGE.read_text(), "engines", measured(RESULTS)))


def measured(results: Path) -> str:
    """Every table of the page."""
    tables = {name: pd.read_csv(results / f"engines_{name}.csv") for name in (*_TABLES, "times")}
    threads, batch = tables["times"]["threads"].iloc[0], tables["times"]["batch"].iloc[0]
    parts = [
        "![Times and memory of the engines beside the ANN's](../results/reference/engines/engines.png)",
        f"Ratios of times within one run (median; {threads} threads, batch {batch}; `ANN` is the same network with "
        "ReLU, batch norm folded, channels-last): `python -m benchmarks.engines OUT`.",
        to_markdown(_times(tables["times"])),
    ]
    for name, (title, columns) in _TABLES.items():
        parts.append(to_markdown(tables[name][list(columns)].rename(columns=columns), title))
    return "\n\n".join(parts)


def _times(times: pd.DataFrame) -> pd.DataFrame:
    """One row per comparison and network, one column per number of levels."""
    times = times.assign(shown=[_ratio(row) for row in times.itertuples()], against=times.variant + " : " + times.unit)
    wide = times.pivot(index=["against", "network"], columns="levels", values="shown").fillna("")
    wide.columns = [f"L = {levels}" for levels in wide.columns]
    order = {name: place for place, name in enumerate(times.against.unique())}
    return wide.reset_index().sort_values("against", key=lambda names: names.map(order), kind="stable")


def _ratio(row: Any) -> str:
    return f"{row.wall_ratio:.2f} ({row.target}{'' if row.met else ', missed'})"


_TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "memory": (
        "Peak memory beside the ANN's. Targets: of `counts` 1.1 times the ANN's, of `steps` the ANN's and 1.5 times "
        "the largest layer's train, held as float32 as other simulators do, or at one byte per spike as here:",
        {
            "network": "network",
            "engine": "engine",
            "levels": "L",
            "ratio": "peak : ANN's",
            "met_as_floats": "met (float32)",
            "met": "met (bytes)",
        },
    ),
    "conversion": (
        "Conversion (target: 2 s):",
        {"network": "network", "engine": "engine", "seconds": "seconds", "met": "target met"},
    ),
    "certificate": (
        "Pairs of networks on the CIFAR-10 test set, neuron by neuron (QCFS ResNet-20, L = 8): "
        "`python -m benchmarks.certificate OUT`.",
        {
            "first": "first",
            "second": "second",
            "images": "images",
            "neurons": "neurons",
            "count_mismatches": "counts that differ",
            "prediction_mismatches": "predictions that differ",
        },
    ),
    "accuracy": (
        "What INT8 costs (the same network):",
        {"network": "network", "images": "images", "accuracy": "accuracy (%)"},
    ),
}

if __name__ == "__main__":
    main()
