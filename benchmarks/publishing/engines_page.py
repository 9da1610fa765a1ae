"""The measured part of docs/engines.md from its files: `python -m benchmarks.publishing.engines_page`."""

from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.publishing.pages import with_section
from pascal.report.write import to_markdown

ROOT = Path(__file__).parents[2]
PAGE, RESULTS = ROOT / "docs" / "engines.md", ROOT / "results" / "reference" / "engines"
_NOT_YET = "not recorded yet."


def main() -> None:
    """Write the section."""
    PAGE.write_text(with_section(PAGE.read_text(), "engines", measured(RESULTS)))


def measured(results: Path) -> str:
    """Every table of the page."""
    names = [name for name in (*_TABLES, "times", "compiled") if (results / f"engines_{name}.csv").exists()]
    tables = {name: pd.read_csv(results / f"engines_{name}.csv") for name in names}
    tables["memory"] = _against_limits(tables["memory"])
    tables["profile"] = _multiplying(tables["profile"])
    parts = [
        "![Times and memory of the engines beside the ANN's](../results/reference/engines/engines.png)",
        f"Ratios of times within one run (median; {_how(tables['times'])}; `ANN` is the same network with "
        "ReLU, batch norm folded, channels-last): `python -m benchmarks.speed.engines OUT`.",
        to_markdown(_times(tables["times"])),
    ]
    if "compiled" in tables:
        parts.append(to_markdown(_times(tables["compiled"]), f"With torch.compile ({_how(tables['compiled'])}):"))
    else:
        parts.append(f"With torch.compile on both sides: {_NOT_YET}")
    for name, (title, columns) in _TABLES.items():
        known = name in tables
        parts.append(
            to_markdown(tables[name][list(columns)].rename(columns=columns), title) if known else f"{title} {_NOT_YET}"
        )
    return "\n\n".join(parts)


def _how(times: pd.DataFrame) -> str:
    return f"{times['threads'].iloc[0]} threads, batch {times['batch'].iloc[0]}"


def _times(times: pd.DataFrame) -> pd.DataFrame:
    """One row per comparison and network, one column per number of levels."""
    times = times.assign(shown=[_ratio(row) for row in times.itertuples()], against=times.variant + " : " + times.unit)
    wide = times.pivot(index=["against", "network"], columns="levels", values="shown").fillna("")
    wide.columns = [f"L = {levels}" for levels in wide.columns]
    order = {name: place for place, name in enumerate(times.against.unique())}
    return wide.reset_index().sort_values("against", key=lambda names: names.map(order), kind="stable")


def _ratio(row: Any) -> str:
    return f"{row.wall_ratio:.2f} ({row.target}{'' if row.met else ', missed'})"


def _against_limits(memory: pd.DataFrame) -> pd.DataFrame:
    """Peaks over both readings of their limit."""
    train = (memory.limit_bytes - memory.ann_bytes) * memory.engine.map({"steps": 4, "counts": 1})
    floats = memory.peak_bytes / (memory.ann_bytes + train)
    return memory.assign(of_floats=floats.round(3), of_bytes=(memory.peak_bytes / memory.limit_bytes).round(3))


def _multiplying(profile: pd.DataFrame) -> pd.DataFrame:
    """Calls and time of convolutions and fully connected layers, and what is left for all the rest."""
    chosen = profile[profile.operator.str.contains("mkldnn_convolution|addmm|pointwise")]
    table = chosen.groupby(["network", "variant"], sort=False)[["calls", "self_ms", "share"]].sum().reset_index()
    return table.assign(rest=[f"{100 * (1 - share):.0f} %" for share in table.share], self_ms=table.self_ms.round())


_TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "memory": (
        "Peak memory beside the ANN's. Targets: of `counts` 1.1 times the ANN's, of `steps` the ANN's and 1.5 times "
        "the largest layer's train, held as float32 as other simulators do (met), or at one byte per spike as here "
        "(missed). What bounds `steps` is not the trains: membrane, count, fired and currents of the neurons at work "
        "are four float32 maps whatever L is, while at one byte per spike the limit at L = 4 is one and a half.",
        {
            "network": "network",
            "engine": "engine",
            "levels": "L",
            "ratio": "peak : ANN's",
            "of_floats": "peak : limit (float32)",
            "of_bytes": "peak : limit (bytes)",
        },
    ),
    "profile": (
        "Where the time goes at L = 8 (all operators: `engines_profile.csv`). `counts` and `integer` are bound by the "
        "kernels that multiply, as the ANN is; `steps` by its L times as many calls of them.",
        {
            "network": "network",
            "variant": "variant",
            "calls": "calls that multiply",
            "self_ms": "their ms",
            "rest": "all the rest",
        },
    ),
    "training": (
        "Training VGG-16 at width 0.25 with batches of 128, without torch.compile: a step with QCFS beside one with "
        "ReLU, and the loader's batches beside the step that consumes them; the median of five rounds, the lowest and "
        "the highest. QCFS keeps z beside h, for the gradient of θ, and reads both again; ReLU keeps h alone. With "
        "bfloat16 products QCFS still decides levels in float32, four bytes where ReLU moves two:",
        {
            "variant": "what",
            "unit": "beside",
            "threads": "threads",
            "wall_ratio": "ratio",
            "low": "lowest",
            "high": "highest",
            "cpu_ratio": "ratio of processor time",
            "target": "target",
            "met": "met",
        },
    ),
    "conversion": (
        "Conversion (target: 2 s):",
        {"network": "network", "engine": "engine", "seconds": "seconds", "met": "target met"},
    ),
    "certificate": (
        "Pairs of networks on the CIFAR-10 test set, neuron by neuron: `python -m benchmarks.studies.certificate OUT`, "
        "with `--weights results/RUN/SEED/ann.safetensors --network vgg16 --width 0.25` for a network of the pipeline.",
        {
            "ann": "ANN",
            "first": "first",
            "second": "second",
            "images": "images",
            "neurons": "neurons",
            "count_mismatches": "counts that differ",
            "prediction_mismatches": "predictions that differ",
        },
    ),
    "accuracy": (
        "What INT8 costs:",
        {"ann": "ANN", "network": "network", "images": "images", "accuracy": "accuracy (%)"},
    ),
}

if __name__ == "__main__":
    main()
