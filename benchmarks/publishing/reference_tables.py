"""The tables of docs/results.md, and the first of them for README.md, from the reference files: they cannot differ.

`python -m benchmarks.publishing.reference_tables` writes them between `<!-- results -->` and `<!-- /results -->`, or
`<!-- trained -->` and `<!-- /trained -->`. What has no file yet says so.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.publishing.pages import with_section
from benchmarks.publishing.paper_rows import paper_part
from benchmarks.publishing.reference import PRESET, ROOT, planned
from benchmarks.publishing.reference_figure import reference_figure
from pascal.audit import measured_records
from pascal.pipeline.parameters.runs import Run
from pascal.pipeline.parameters.stages import stage_parts
from pascal.report.rows import levels_text
from pascal.report.style import save_figure
from pascal.report.write import to_markdown

FOLDER, PAGE = ROOT / "results" / "reference" / "cifar10", ROOT / "docs" / "results.md"
README = ROOT / "README.md"
FIGURE = FOLDER / "runs.png"
PICTURE = "![Plain IF over its timesteps; accuracy and T_eff of levels by the metric, at random, uniform]({})\n"
OWN_LEVELS = (4, 8)
NOT_RUN = "not run"

Record = dict[str, Any]
Row = dict[str, str]


@dataclass(frozen=True)
class Reference:
    """The runs of a preset, and the files of those that were made."""

    folder: Path
    runs: dict[str, Run]
    seeds: tuple[int, ...]

    def of(self, *runs: str) -> list[Record]:
        """The records of some runs, all seeds."""
        found = [self.read(f"{run}-{seed}.json") for run in runs for seed in self.seeds]
        return [record for record in found if record]

    def twin(self, run: Run) -> Record | None:
        """The same training with ReLU, which runs that differ in their levels alone share."""
        alike = [other for other in self.runs.values() if _training(other) == _training(run)]
        found = [self.read(f"{other.name}-relu.json") for other in alike]
        return next((record for record in found if record), None)

    def read(self, name: str) -> Record | None:
        """A file of the folder, if it is there."""
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else None


def main() -> None:
    """Bring the page and its figure up to date."""
    reference = open_reference(FOLDER)
    PAGE.write_text(with_section(PAGE.read_text(), "results", section(reference)))
    README.write_text(with_section(README.read_text(), "trained", trained_part(reference)))
    save_figure(figure(reference), FIGURE.with_suffix(""))


def open_reference(folder: Path, preset: str = PRESET) -> Reference:
    """The reference files of a preset."""
    pairs = list(planned(preset))
    return Reference(folder, {run.name: run for run, _ in pairs}, tuple(dict.fromkeys(seed for _, seed in pairs)))


def figure(reference: Reference) -> Figure:
    """All runs at a glance."""
    started = {start: orders(reference, start) for start in starts(reference)}
    return reference_figure(reference, [run.name for run in trained(reference)], started)


def trained_part(reference: Reference) -> str:
    """ReLU, QCFS, spikes: the table that says most."""
    return part(
        "Networks trained here: what QCFS costs against ReLU, and what spikes cost against QCFS. Plain IF is the same "
        "network with uncorrected neurons, on some of the test images.",
        [uniform_row(reference, run) for run in trained(reference)],
    )


def section(reference: Reference) -> str:
    """All tables, each under its sentence."""
    parts = {
        "Levels by the metric, and the same levels in another order, from the same state: mean ± standard deviation of "
        "the runs. T_eff as the paper defines it.": [
            row for start in starts(reference) for row in order_rows(reference, start)
        ],
        "A ReLU ResNet-20 that others trained: quantized as it is, thresholds calibrated on training images, briefly "
        "fine-tuned, converted. The SNN in float64, as its certificate, the others in float32, which may differ by an "
        "image.": [own_row(reference, levels) for levels in OWN_LEVELS],
    }
    orders_part, own_part = (part(sentence, rows) for sentence, rows in parts.items())
    told = "".join(f"\n{line}\n" for start in starts(reference) if (line := beside_chance(reference, start)))
    picture, paper = (
        PICTURE.format(f"../{FIGURE.relative_to(ROOT)}"),
        paper_part([*measured_records(reference.folder.parent)]),
    )
    return "\n".join([trained_part(reference), orders_part + told, picture, own_part, paper])


def trained(reference: Reference) -> list[Run]:
    """Runs with the same levels everywhere whose training began here."""
    return [run for run in reference.runs.values() if not run.start and not _given_weights(run)]


def starts(reference: Reference) -> list[str]:
    """The runs that others start from."""
    return list(dict.fromkeys(run.start for run in reference.runs.values() if run.start))


def orders(reference: Reference, start: str) -> dict[str, list[str]]:
    """The run that others start from, then those: assigned by hand, by the metric, at random, reversed."""
    first = reference.runs[start]
    groups = {f"{'trained elsewhere' if _given_weights(first) else 'uniform'}, {first.settings.levels}": [start]}
    for run in reference.runs.values():
        if run.start == start:
            groups.setdefault(_order(run), []).append(run.name)
    return groups


def part(sentence: str, rows: Sequence[Row]) -> str:
    """The rows that were run, under their sentence; those that were not are named."""
    done = [row for row in rows if row["SNN %"] != NOT_RUN]
    missing = "; ".join(_name(row) for row in rows if row not in done)
    told = f"\nNot run yet: {missing}.\n" if missing else ""
    return (to_markdown(pd.DataFrame(done), sentence) if done else f"{sentence}\n") + told


def _name(row: Row) -> str:
    return f"L = {row['L']}" if "run" not in row and "from" not in row else ": ".join([*row.values()][:2])


def uniform_row(reference: Reference, run: Run) -> Row:
    """A network with the same levels everywhere, beside its ReLU twin and the plain IF network."""
    records, twin = reference.of(run.name), reference.twin(run)
    levels = run.settings.levels
    return {
        "run": run.name,
        "network": f"{run.settings.network}, width {run.settings.width:g}",
        "L": str(levels),
        "epochs": str(run.settings.train.epochs),
        "ReLU %": percent([twin["accuracy"]] if twin else []),
        "QCFS %": percent([record["ann_accuracy"] for record in records]),
        "SNN %": percent([record["snn_accuracy"] for record in records]),
        "counts that differ": certificate([record["certificate"] for record in records]),
        "plain IF %, T = L": percent(plain(records, levels)),
        "T = 64": percent(plain(records, 64)),
        "QCFS % of those images": percent([record["plain_if"]["ann_accuracy"] for record in records]),
        "images": images_of_plain(records),
    }


def order_rows(reference: Reference, start: str) -> list[Row]:
    """A row for each order of the levels."""
    return [_order_row(reference, start, order, names) for order, names in orders(reference, start).items()]


def _order(run: Run) -> str:
    adapt = run.settings.adapt
    if run.kind == "given":
        levels = levels_text(adapt.levels)
        return f"uniform, {levels}" if levels.isdigit() else "by hand"
    tuned = "" if adapt.finetune == "algorithm4" else f", {adapt.finetune}"
    if run.kind == "planned":
        budget = adapt.budget if isinstance(adapt.budget, str) else f"{adapt.budget:g}"
        return f"planned, {'/'.join(map(str, adapt.values))} within {budget}{tuned}"
    return f"{adapt.method}, {'/'.join(map(str, adapt.values))}{tuned}"


def _order_row(reference: Reference, start: str, order: str, names: Sequence[str]) -> Row:
    records = reference.of(*names)
    timesteps = [record["timesteps"]["t_eff"] for record in records if record["timesteps"]]
    lists = {levels_text(record["levels"].values()) for record in records}
    return {
        "from": start,
        "levels": order,
        "runs": f"{len(records)} of {len(names) * len(reference.seeds)}",
        "ANN %": percent([record["ann_accuracy"] for record in records]),
        "SNN %": percent([record["snn_accuracy"] for record in records]),
        "t_eff": spread(timesteps, "{:.2f}"),
        "counts that differ": certificate([record["certificate"] for record in records]),
        "levels per layer": lists.pop() if len(lists) == 1 else "differ" if lists else NOT_RUN,
    }


def beside_chance(reference: Reference, start: str) -> str:
    """Does the metric beat chance? How many of the random orders of the same levels its order leaves behind."""
    groups = {
        order: [record["ann_accuracy"] for record in reference.of(*names)]
        for order, names in orders(reference, start).items()
    }
    lines = []
    for values in [order.removeprefix("metric, ") for order in groups if order.startswith("metric, ")]:
        own, chance = groups[f"metric, {values}"], groups.get(f"random, {values}", [])
        if own and chance:
            behind = f"{sum(accuracy < fmean(own) for accuracy in chance)} of the {len(chance)} random orders"
            against = f"{percent(own)} against {percent(chance)}"
            lines.append(f"the metric's order of {values} does better than {behind} ({against})")
    return f"From {start}, {'; '.join(lines)}." if lines else ""


def own_row(reference: Reference, levels: int) -> Row:
    """The user's own network at one number of levels."""
    record = reference.read(f"own-l{levels}.json")
    names = {"ReLU %": "relu", "quantized %": "quantized", "calibrated %": "calibrated", "fine-tuned %": "fine_tuned"}
    shares = {title: percent([record["accuracy"][name]] if record else []) for title, name in names.items()}
    return {
        "L": str(levels),
        "epochs": str(record["epochs"] if record else ""),
        **shares,
        "SNN %": percent([record["accuracy"]["snn"]] if record else []),
        "counts that differ": certificate([record["certificate"]] if record else []),
    }


def plain(records: Sequence[Record], timesteps: int) -> list[float]:
    """Accuracies of the plain IF network at one number of timesteps."""
    curves = [record["plain_if"]["accuracy"] for record in records if record["plain_if"]]
    return [curve[str(timesteps)] for curve in curves if str(timesteps) in curve]


def images_of_plain(records: Sequence[Record]) -> str:
    """How many test images those are of."""
    return (
        ", ".join(sorted({f"{record['plain_if']['images']:,}" for record in records if record["plain_if"]})) or NOT_RUN
    )


def percent(shares: Sequence[float]) -> str:
    """`88.12`, or `88.12 ± 0.10` of several."""
    return spread([100 * share for share in shares], "{:.2f}")


def spread(values: Sequence[float], form: str) -> str:
    """The mean, and beside it the sample deviation where there are several."""
    if not values:
        return NOT_RUN
    texts = [form.format(fmean(values)), *([form.format(stdev(values))] if len(values) > 1 else [])]
    return " ± ".join(texts)


def certificate(found: Sequence[Record | None]) -> str:
    """How many spike counts differ from the ANN's levels, of how many compared."""
    known = [each for each in found if each]
    if not known:
        return NOT_RUN
    return f"{sum(each['count_mismatches'] for each in known):,} of {sum(each['neurons'] for each in known):,}"


def _training(run: Run) -> dict[str, Any]:
    """What a training depends on, but for the levels."""
    return stage_parts(run.settings)["train"].model_dump(exclude={"levels"})


def _given_weights(run: Run) -> bool:
    return run.settings.weights is not None


if __name__ == "__main__":
    main()
