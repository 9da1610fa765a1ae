"""The rows of the rivals on docs/results.md and docs/rivals.md, and their figures, from the recorded comparisons.

`python -m benchmarks.publishing.rivals_page` reads results/reference/rivals, which `benchmarks.studies.rivals` writes.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.publishing.pages import with_section
from pascal.report.figures.rivals import AXES, rivals_figure
from pascal.report.style import save_figure

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference" / "rivals"
IMAGES = ROOT / "docs" / "images"
NETWORKS = {
    "resnet20_l8": "ResNet-20, L = 8",
    "vgg16_avg_w025_l4": "VGG-16, width ¼, average pooling, L = 4",
    "resnet18_w025_l8": "ResNet-18, width ¼, L = 8",
}
TEN = (  # method, answer; the first label of each
    ("plain", "T=8"), ("plain", "T=32"), ("seenn", ""), ("confidence", ""), ("ftbc", "T=8"), ("cos", "T=4"),
    ("tet", "T=4"), ("st-bif", "drained"), ("radix", ""), ("pasc", ""),
)  # fmt: skip


def main() -> None:
    """Write both pages and the figures."""
    tables = {name: pd.read_csv(REFERENCE / f"{name}.csv") for name in NETWORKS if (REFERENCE / f"{name}.csv").exists()}
    for page, text in (("docs/results.md", ten_rows(tables)), ("docs/rivals.md", all_rows(tables))):
        path = ROOT / page
        path.write_text(with_section(path.read_text(), "rivals", text))
    for name, table in tables.items():
        rows = table[~table.answer.astype(str).str.contains("τ =")]
        for cost in AXES:
            save_figure(
                rivals_figure(rows, cost, f"{NETWORKS[name]}, {_images(table)} test images"),
                IMAGES / f"rivals_{name}_{cost}",
            )
            (IMAGES / f"rivals_{name}_{cost}.pdf").unlink()


def ten_rows(tables: dict[str, pd.DataFrame]) -> str:
    """Accuracy on every network; timesteps and operations of the first."""
    first = max(tables, key=lambda name: tables[name].method.nunique())  # the one with most methods
    others = [name for name in tables if name != first]
    names = "".join(f" | {NETWORKS[name].partition(',')[0]} %" for name in others)
    head = f"| method | {NETWORKS[first].partition(',')[0]} % | T total | sequential T | synaptic op. (M){names} |"
    lines = [head, "|---" * (5 + len(others)) + "|"]
    for method, answer in TEN:
        row, *rest = [_pick(tables[name], method, answer) for name in (first, *others)]
        if row is not None:
            beside = "".join(f" | {_percent(each)}" for each in rest)
            lines.append(f"| {_name(row)} | {_percent(row)} | {_costs(row)}{beside} |")
    return "\n".join([*lines, "", *(_about(name, tables[name]) for name in (first, *others)), ""])


def _about(name: str, table: pd.DataFrame) -> str:
    ann = 100 * table.ann_accuracy.iloc[0]
    return f"{NETWORKS[name]}: ANN {ann:.2f} % on the first {_images(table):,} test images of CIFAR-10, float32.  "


def all_rows(tables: dict[str, pd.DataFrame]) -> str:
    """Every chosen answer of every network."""
    parts: list[str] = []
    for name, table in tables.items():
        about = json.loads((REFERENCE / f"{name}.json").read_text())
        parts += [
            f"### {NETWORKS[name]}, {_images(table)} test images", "",
            f"ANN {100 * table.ann_accuracy.iloc[0]:.2f} %, pooling between neurons: {_pooling(table)}. "
            f"`{about['command']}`, seed {about['seed']}, {about['cpu_seconds']:.0f} CPU seconds.", "",
            "| method | T | accuracy % | agreement % | wrong neurons % | T total | sequential T | synaptic op. (M) | "
            "neuron op. (M) | buffer bits | nJ (int8) |", "|---" * 11 + "|",
        ]  # fmt: skip
        chosen = table[(table.chosen.astype(str) == "True") & table.accuracy.notna()]
        parts += [_line(row) for row in chosen.to_dict("records")]
        parts += [f"\n![accuracy against {axis}](images/rivals_{name}_{cost}.png)" for cost, axis in AXES.items()]
        parts.append("")
    return "\n".join([*parts, ""])


def _line(row: dict[str, Any]) -> str:
    wrong = "" if pd.isna(row["mismatches"]) else f"{100 * row['mismatches']:.3g}"
    operations = f"{row['neuron_operations'] / 1e6:.2f} | {row['buffer_bits']:g} | {row['energy_int8_pj'] / 1e3:.0f}"
    shares = f"{_percent(row)} | {100 * row['agreement']:.2f} | {wrong}"
    return f"| {_name(row, False)} | {row['answer']} | {shares} | {_costs(row)} | {operations} |"


def _pick(table: pd.DataFrame, method: str, answer: str) -> dict[str, Any] | None:
    rows = table[(table.method == method) & (table.chosen.astype(str) == "True") & table.accuracy.notna()]
    rows = rows[rows.answer == answer] if answer else rows
    return rows.iloc[0].to_dict() if len(rows) else None


def _name(row: dict[str, Any], answered: bool = True) -> str:
    refitted = f", L = {str(row['levels']).partition(',')[0]} refitted" if "refitted" in str(row["levels"]) else ""
    paper = "" if row["method"] == "pasc" else f" ({row['paper']})" if answered else ""
    answer = f", {row['answer']}" if answered and str(row["answer"]).startswith("T=") else ""
    return f"{row['label']}{answer}{refitted}{paper}"


def _costs(row: dict[str, Any]) -> str:
    operations = f"{row['synaptic_operations'] / 1e6:.1f}"
    return f"{row['total_timesteps']:.3g} | {row['sequential_timesteps']:.3g} | {operations}"


def _percent(row: dict[str, Any] | None) -> str:
    return "" if row is None else f"{100 * row['accuracy']:.2f}"


def _images(table: pd.DataFrame) -> int:
    return int(table.images.max())


def _pooling(table: pd.DataFrame) -> str:
    return str(table.pooling.dropna().iloc[0])


if __name__ == "__main__":
    main()
