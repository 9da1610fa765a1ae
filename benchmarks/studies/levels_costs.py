"""What plans cost, measured on other images than they were made on: synaptic operations, energy, cycles of LoAS.

`python -m benchmarks.studies.levels_costs OUT.csv` plans the public QCFS ResNet-20 at two shares of each cost. A plan
never costs more than its budget by the measure it was made with; the last columns say what test images make of it.
"""

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import pandas as pd
import torch
from torch import nn

import pascal
from benchmarks.studies.subjects import Subject, add_arguments, open_subject
from pascal.data import evaluation_batches, sample
from pascal.planning.costs import make_cost
from pascal.planning.network import Network

SHARES = (0.7, 0.5)
COSTS = ("synops", "energy", "latency")
OTHERS = 64  # test images


def main() -> None:
    """Plan, measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    add_arguments(parser)
    parser.add_argument("--costs", nargs="+", choices=COSTS, default=COSTS)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES)
    arguments = parser.parse_args()
    subject = open_subject(arguments)
    batches = subject.calibration(arguments.images, arguments.seed)
    for cost in arguments.costs:
        for share in arguments.shares:
            add(arguments.out, row(subject, batches, cost, share) | {"images": arguments.images})


def add(out: Path, found: dict[str, Any]) -> None:
    """A row to the file, in the place of an older one of the same cost and share."""
    print(found, flush=True)
    rows = pd.DataFrame([found])
    if out.exists():
        others = pd.read_csv(out)
        rows = pd.concat([others[(others.cost != found["cost"]) | (others.share != found["share"])], rows])
    out.parent.mkdir(parents=True, exist_ok=True)
    rows.to_csv(out, index=False)


def row(subject: Subject, batches: Any, cost: str, share: float) -> dict[str, Any]:
    """A plan's cost on the images it was made on, and on test images, where the budget is the same share."""
    began = process_time()
    plan = pascal.plan_levels(subject.ann, batches, share, cost)
    seconds = process_time() - began
    others = next(iter(evaluation_batches(subject.dataset, sample(subject.dataset.test, OTHERS), OTHERS)))[0]
    start, planned = cost_of(subject.ann, cost, others), cost_of(plan.ann, cost, others)
    return {
        "cost": cost, "unit": plan.unit, "share": share, "budget": share * plan.start_cost, "plan": plan.cost,
        "plan_over_budget": plan.cost / (share * plan.start_cost), "of_test_images": planned,
        "of_test_images_over_share": planned / (share * start), "kept": plan.kept,
        "cpu_seconds": round(seconds, 1),
        "levels": " ".join(map(str, plan.levels.values())),
    }  # fmt: skip


def cost_of(ann: nn.Module, cost: str, images: torch.Tensor) -> float:
    """As the planner measures it."""
    network = Network(ann)
    return make_cost(cost, network, images)(network.start)


if __name__ == "__main__":
    main()
