"""Which levels? The planner beside the AL metric, chance and uniform levels of the same cost, on all test images.

`python -m benchmarks.studies.levels OUT.json --budgets 132 112 96 76 66 60 48 38` plans the public QCFS ResNet-20 on
training images without labels, fine-tunes nothing, and writes a row for each assignment with its accuracy. With
`--weights ANN --network vgg16 --width 0.25 --pool avg` it does so for a network of one's own. Test images are shown to
finished networks alone.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from tqdm import tqdm

import pascal
from benchmarks.publishing.provenance import provenance, write_record
from benchmarks.studies.subjects import Subject, add_arguments, open_subject
from pascal.energy import snn_operations
from pascal.planning.baselines import al_metrics
from pascal.planning.network import Assignment, levels_of
from pascal.planning.plan import Planner, make_planner

Row = dict[str, Any]
Batches = list[tuple[Tensor, Tensor]]
MEASURED = 32  # images whose spikes are counted
KEPT, FITTED = "kept", "fitted"


def main() -> None:
    """Plan, measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    add_arguments(parser)
    parser.add_argument("--budgets", type=float, nargs="*", default=[], help="beside what the metric's levels cost")
    parser.add_argument("--values", type=int, nargs="+", default=[8, 4, 2, 1])
    parser.add_argument("--metric", nargs="*", default=["4/2/1", "8/4/2"], help="levels of the metric's clusters")
    parser.add_argument("--only", choices=("orders", "plans"), help="one half: the metric and chance, or the planner")
    parser.add_argument("--orders", type=int, default=12, help="random orders of the metric's levels")
    parser.add_argument(
        "--fitted", action="store_true", help="random orders with fitted thresholds alone: half the time"
    )
    parser.add_argument("--test", type=int, help="only so many test images: to try this out")
    arguments = parser.parse_args()
    subject, began = open_subject(arguments), process_time()
    rows = []
    for row in tqdm(Study(subject, arguments).rows(), "levels", disable=None):
        rows.append(row)
        write_record(arguments.out, _record(subject, arguments, rows, process_time() - began))
    print(pd.DataFrame(rows).drop(columns="levels").to_string(index=False))


def _record(subject: Subject, arguments: argparse.Namespace, rows: list[Row], seconds: float) -> dict[str, Any]:
    about = {"network": subject.name, "seed": arguments.seed, "planning_images": arguments.images}
    tested = {"test_images": arguments.test or len(subject.dataset.test), "threads": torch.get_num_threads()}
    return {**about, **tested, "cpu_seconds": round(seconds, 1), **provenance(), "rows": rows}


class Study:
    """Every assignment that is compared, on one network."""

    def __init__(self, subject: Subject, arguments: argparse.Namespace) -> None:
        self.subject, self.arguments = subject, arguments
        self.batches = subject.calibration(arguments.images, arguments.seed)
        self.planner = make_planner(
            subject.ann, self.batches, "timesteps", arguments.values, "kl", 2, 0.25, arguments.seed, False
        )

    def rows(self) -> Iterator[Row]:
        """The start, the metric's assignments, chance, then plans and uniform levels for each budget."""
        if self.arguments.only != "plans":
            yield self._row("start", KEPT, self.subject.ann)
        metrics = al_metrics(self.planner.search)
        budgets = {*self.arguments.budgets}
        for values in self.arguments.metric:
            levels = pascal.assign_levels(metrics, [int(value) for value in values.split("/")])
            budgets.add(sum(levels.values()))
            if self.arguments.only != "plans":
                yield from self._unplanned(values, levels)
        for budget in sorted(budgets, reverse=True) if self.arguments.only != "orders" else ():
            yield from self._at(budget)

    def _unplanned(self, values: str, levels: dict[str, int]) -> Iterator[Row]:
        yield from self._both(f"AL metric, {values}", levels)
        for order in _orders(levels, self.arguments.orders, self.arguments.seed):
            yield from self._both(f"random order of {values}", order, kept=not self.arguments.fitted)

    def _at(self, budget: float) -> Iterator[Row]:
        cpu, wall = process_time(), perf_counter()
        given = {"values": self.arguments.values, "seed": self.arguments.seed}
        plan = pascal.plan_levels(self.subject.ann, self.batches, budget, **given)
        seconds = {"cpu_seconds": round(process_time() - cpu, 1), "seconds": round(perf_counter() - wall, 1)}
        yield self._row("planner", FITTED, plan.ann) | seconds | {"budget": budget, "kept": plan.kept}
        even = budget / len(plan.levels)
        if even in self.arguments.values:
            yield from self._both("uniform", dict.fromkeys(plan.levels, int(even)))

    def _both(self, name: str, levels: dict[str, int], kept: bool = True) -> Iterator[Row]:
        """With the start's thresholds, and with those that the planner would give these levels."""
        search = self.planner.search
        start = search.judge.network.start
        as_trained = {path: start[path]._replace(levels=value) for path, value in levels.items()}
        fitted = search.fitted(levels, _anchor(self.planner, levels))
        if kept:
            yield self._row(name, KEPT, search.judge.network.copy(as_trained))
        if fitted != as_trained or not kept:
            yield self._row(name, FITTED, search.judge.network.copy(fitted))

    def _row(self, name: str, thresholds: str, ann: nn.Module) -> Row:
        levels = list(pascal.get_levels(ann).values())
        shown = [(self.batches[0][0][:MEASURED], self.batches[0][1][:MEASURED])]
        synops = sum(layer.acs for layer in snn_operations(pascal.measure(ann, shown)))
        accuracy = self.subject.accuracy(ann, self.arguments.test)
        return {
            "assigned by": name, "thresholds": thresholds, "cost": sum(levels), "synops": round(synops),
            "accuracy": accuracy, "levels": levels,
        }  # fmt: skip


def _anchor(planner: Planner, levels: dict[str, int]) -> Assignment:
    """The uniform assignment nearest in cost: where the planner would begin."""
    total = sum(levels.values())
    return min(planner.search.anchors(), key=lambda point: abs(sum(levels_of(point).values()) - total))


def _orders(levels: dict[str, int], orders: int, seed: int) -> Iterator[dict[str, int]]:
    generator, values = Random(seed), list(levels.values())
    for _ in range(orders):
        generator.shuffle(values)
        yield dict(zip(levels, values, strict=True))


if __name__ == "__main__":
    main()
