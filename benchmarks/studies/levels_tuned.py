"""Planner and metric before and after a gentle fine-tuning, seed by seed from the same batches.

`python -m benchmarks.studies.levels_tuned OUT.json` takes the public QCFS ResNet-20, plans 66 levels, and trains the
plan, the metric's levels (4/2/1, thresholds as trained) and a random order of these for 100 steps with frozen batch
norms; then uniform levels and a plan of their cost. Test accuracies are for the record: which network to keep is
decided on validation images.
"""

import argparse
import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from time import process_time
from typing import Any

from torch import nn
from tqdm import tqdm

import pascal
from benchmarks.publishing.provenance import provenance, write_record
from benchmarks.studies.subjects import Subject, add_arguments, open_subject
from pascal.adapt import layer_metrics, level_histograms
from pascal.data import training_batches
from pascal.training import TrainingConfig, train
from pascal.training.steps import FirstSteps

BATCH = 128
Row = dict[str, Any]
PLANNER, METRIC, CHANCE = "planner", "AL metric, 4/2/1", "random order of 4/2/1"


def main() -> None:
    """Train, write after each network, print the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    add_arguments(parser)
    parser.add_argument("--budget", type=int, default=66)
    parser.add_argument("--uniform", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rate", type=float, default=0.003)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--test", type=int, help="only so many test images: to try this out")
    arguments = parser.parse_args()
    subject, rows = open_subject(arguments), []
    for row in tqdm(measured(subject, arguments), "fine-tuning", disable=None):
        rows.append(row)
        about = {"network": subject.name, "steps": arguments.steps, "learning_rate": arguments.rate, "batch": BATCH}
        tested = {"test_images": arguments.test or len(subject.dataset.test), "seeds": arguments.seeds}
        pairs = {"planner minus metric": paired(rows, arguments.budget)}
        write_record(arguments.out, {**about, **tested, **provenance(), **pairs, "rows": rows})
    print(paired(rows, arguments.budget))


def measured(subject: Subject, arguments: argparse.Namespace) -> Iterator[Row]:
    """A row for each network and seed, the pairs first."""
    batches = subject.calibration(arguments.images, arguments.seed)
    histograms = level_histograms(subject.ann, batches)
    terms = layer_metrics({layer: counts.tolist() for layer, counts in histograms.items()})
    metric = pascal.assign_levels({layer: term.metric for layer, term in terms.items()}, [4, 2, 1])
    planned = pascal.plan_levels(subject.ann, batches, arguments.budget, seed=arguments.seed).ann
    by_metric = with_levels(subject.ann, metric)
    for seed in arguments.seeds:
        for name, ann in ((PLANNER, planned), (METRIC, by_metric)):
            yield tuned(subject, arguments, name, ann, seed)
    for seed in arguments.seeds:
        yield tuned(subject, arguments, CHANCE, with_levels(subject.ann, shuffled(metric, seed)), seed)
    uniform = with_levels(subject.ann, dict.fromkeys(metric, arguments.uniform))
    plan = pascal.plan_levels(subject.ann, batches, arguments.uniform * len(metric), seed=arguments.seed).ann
    for seed in arguments.seeds:
        for name, ann in ((f"uniform, {arguments.uniform}", uniform), (PLANNER, plan)):
            yield tuned(subject, arguments, name, ann, seed)


def tuned(subject: Subject, arguments: argparse.Namespace, name: str, ann: nn.Module, seed: int) -> Row:
    """Accuracies before and after."""
    began, trained, data = process_time(), copy.deepcopy(ann), subject.dataset
    config = TrainingConfig(epochs=1, learning_rate=arguments.rate, freeze_batch_norm=True, seed=seed)
    list(train(trained, FirstSteps(training_batches(data, BATCH, seed=seed), arguments.steps), config, bar=False))
    seconds = round(process_time() - began, 1)
    levels = list(pascal.get_levels(ann).values())
    row: Row = {"assigned by": name, "cost": sum(levels), "seed": seed, "cpu_seconds": seconds, "levels": levels}
    for when, network in (("before", ann), ("after", trained)):
        row |= {f"{when}_{on}": share for on, share in accuracies(subject, network, arguments.test).items()}
    return row


@cache
def accuracies(subject: Subject, ann: nn.Module, images: int | None) -> dict[str, float]:
    """On validation images, and for the record on test images."""
    return {"validation": subject.accuracy_on(ann, subject.dataset.validation), "test": subject.accuracy(ann, images)}


def with_levels(ann: nn.Module, levels: dict[str, int]) -> nn.Module:
    """A copy with other levels; thresholds stay."""
    changed = copy.deepcopy(ann)
    pascal.set_levels(changed, levels)
    return changed


def shuffled(levels: dict[str, int], seed: int) -> dict[str, int]:
    """The same levels in a random order."""
    values = list(levels.values())
    Random(seed).shuffle(values)
    return dict(zip(levels, values, strict=True))


def paired(rows: list[Row], budget: int) -> dict[str, dict[str, float]]:
    """Test accuracy of the plan less the metric's, in points, over seeds that both have."""
    by_seed = {(row["assigned by"], row["seed"]): row for row in rows if row["cost"] <= budget}
    seeds = [seed for name, seed in by_seed if name == METRIC and (PLANNER, seed) in by_seed]
    found = {}
    for when in ("before", "after"):
        points = [100 * (by_seed[PLANNER, s][f"{when}_test"] - by_seed[METRIC, s][f"{when}_test"]) for s in seeds]
        if points:
            found[when] = {
                "mean": fmean(points),
                "std": stdev(points) if len(points) > 1 else 0.0,
                "seeds": len(points),
            }
    return found


if __name__ == "__main__":
    main()
