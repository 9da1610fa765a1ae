"""Tables and figures of the studies of levels, so that pages and files cannot differ.

`python -m benchmarks.publishing.levels_page` writes between `<!-- levels -->` and `<!-- /levels -->` of docs/results.md
and docs/levels.md, and draws the figures of results/reference/levels.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import pandas as pd

from benchmarks.publishing.levels_figures import metric_study_figure, studies_figure
from benchmarks.publishing.pages import with_section
from benchmarks.publishing.reference import ROOT
from benchmarks.publishing.reference_tables import percent
from pascal.report.style import save_figure
from pascal.report.write import to_markdown

FOLDER = ROOT / "results" / "reference" / "levels"
RESULTS, PAGE = ROOT / "docs" / "results.md", ROOT / "docs" / "levels.md"
NETWORKS = ("resnet20", "vgg16", "resnet18")
Row = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """Equal ways to choose levels at one cost: one network, or several random orders."""

    name: str
    thresholds: str
    cost: int
    rows: tuple[Row, ...]

    @property
    def accuracy(self) -> float:
        """Their mean."""
        return fmean(row["accuracy"] for row in self.rows)

    def cells(self) -> dict[str, str]:
        """For a table."""
        orders = f", {len(self.rows)} orders" if len(self.rows) > 1 else ""
        return {
            "levels in all": str(self.cost),
            "levels by": f"{self.name}{orders}",
            "thresholds": self.thresholds,
            "synaptic operations (M)": f"{fmean(row['synops'] for row in self.rows) / 1e6:.1f}",
            "accuracy %": percent([row["accuracy"] for row in self.rows]),
        }


def main() -> None:
    """Bring pages and figures up to date."""
    RESULTS.write_text(with_section(RESULTS.read_text(), "levels", results_section()))
    PAGE.write_text(with_section(PAGE.read_text(), "levels", page_section()))
    shown = {study(name)["network"]: groups(name) for name in NETWORKS if study(name)}
    save_figure(studies_figure(shown), FOLDER / "levels")
    if (FOLDER / "metric.csv").exists():
        save_figure(metric_study_figure(pd.read_csv(FOLDER / "metric.csv")), FOLDER / "metric")


def study(name: str) -> dict[str, Any]:
    """What the files of a network say, their rows together."""
    found = [json.loads(path.read_text()) for path in sorted(FOLDER.glob(f"{name}_[op]*.json"))]
    return {**found[0], "rows": [row for each in found for row in each["rows"]]} if found else {}


def groups(name: str) -> list[Group]:
    """The ways to choose levels, by falling cost; a plan stands at its budget."""
    found: dict[tuple[int, str, str], list[Row]] = {}
    for row in study(name)["rows"]:
        key = (int(row.get("budget", row["cost"])), row["assigned by"], row["thresholds"])
        if row["assigned by"] != "start" or key not in found:
            found.setdefault(key, []).append(row)
    ordered = sorted(found.items(), key=lambda item: -item[0][0])
    return [Group(how, thresholds, cost, tuple(rows)) for (cost, how, thresholds), rows in ordered]


def results_section() -> str:
    """At costs where there is something to compare with: the metric's and the uniform ones."""
    rows = [row for name in NETWORKS if study(name) for row in _compared(name)]
    told = (
        "Levels per layer at equal cost, nothing fine-tuned. Thresholds as trained (kept), or fitted as the planner "
        "fits its own; ± over random orders."
    )
    return to_markdown(pd.DataFrame(rows), told) + "".join(f"\n{part.strip()}\n" for part in tuned_lines())


def _compared(name: str) -> Iterator[dict[str, str]]:
    about, every = study(name), groups(name)
    others = {group.cost for group in every if group.name != "planner"}
    for group in every:
        if group.cost in others:
            yield {"network": about["network"], **group.cells(), "test images": f"{about['test_images']:,}"}


def tuned_lines() -> Iterator[str]:
    """What a gentle fine-tuning does to the plan and to the metric's levels."""
    path = FOLDER / "resnet20_tuned.json"
    if not path.exists():
        return
    record = json.loads(path.read_text())
    table = pd.DataFrame(record["rows"])
    rows = [
        {
            "levels in all": str(cost),
            "levels by": how,
            "seeds": str(len(part)),
            "before %": percent(list(part.before_test.unique())),
            "after %": percent(list(part.after_test)),
            "kept by validation images": ", ".join(f"{n} {k}" for k, n in _kept(part).value_counts().items()),
        }
        for (cost, how), part in table.groupby(["cost", "assigned by"], sort=False)
    ]
    what = f"{record['network']} before and after {record['steps']} steps of {record['batch']} images at a learning "
    yield to_markdown(pd.DataFrame(rows), f"{what}rate of {record['learning_rate']:g}, batch norms frozen.")
    if not (gains := record["planner minus metric"]):
        return
    told = [f"{gain['mean']:+.2f} ± {gain['std']:.2f} points {when}" for when, gain in gains.items()]
    yield f"The plan less the metric's levels, paired over {gains['after']['seeds']} seeds: {', '.join(told)}."


def _kept(part: pd.DataFrame) -> pd.Series:
    after = part.after_validation >= part.before_validation
    return after.map({True: "after", False: "before"})


def page_section() -> str:
    """Every budget, costs of other kinds, times."""
    parts = [_budgets(name) for name in NETWORKS if study(name)]
    for file, told in (
        ("resnet20_costs", "Plans within shares of other costs, and what 64 test images make of them."),
        ("planning_times", "Time of one round of measurements around a point, in passes of the network."),
    ):
        if (path := FOLDER / f"{file}.csv").exists():
            parts.append(to_markdown(_short(pd.read_csv(path)), told))
    return "\n".join(parts)


def _budgets(name: str) -> str:
    about = study(name)
    plans = [group for group in groups(name) if group.name == "planner"]
    uniform = {group.cost: group for group in groups(name) if group.name == "uniform" and group.thresholds == "kept"}
    rows = [
        {
            "budget": str(plan.cost),
            "planner %": percent([plan.accuracy]),
            "spent": str(plan.rows[0]["cost"]),
            "kept": plan.rows[0]["kept"],
            "uniform %": percent([uniform[plan.cost].accuracy]) if plan.cost in uniform else "",
            "CPU s to plan": f"{plan.rows[0]['cpu_seconds']:.0f}",
            "levels per layer": " ".join(map(str, plan.rows[0]["levels"])),
        }
        for plan in plans
    ]
    told = f"{about['network']}: plans on {about['planning_images']:,} training images, accuracy on "
    return to_markdown(pd.DataFrame(rows), f"{told}{about['test_images']:,} test images, no fine-tuning.")


def _short(table: pd.DataFrame) -> pd.DataFrame:
    names = [name for name in table if name not in ("levels", "unit", "cpu_seconds", "pass_seconds", "image_size")]
    return table[names]


if __name__ == "__main__":
    main()
