"""`level_front`: cost against loss, agreement and accuracy, for many budgets; uniform and AL points beside it."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from tqdm import tqdm

from pascal.errors import PascalError
from pascal.planning.baselines import al_points, contender
from pascal.planning.budget import HELD_OUT, read_budget
from pascal.planning.costs import CostKind
from pascal.planning.network import Assignment, Network
from pascal.planning.plan import VALUES, Planner, make_planner
from pascal.planning.record import Contender

_POINTS = 6


@dataclass(frozen=True)
class FrontPoint(Contender):
    """One assignment of levels; its accuracy only where labelled images were given."""

    accuracy: float | None = None


@dataclass(frozen=True)
class LevelFront:
    """Plans for several budgets, and what uniform levels and the metric's give at theirs."""

    points: tuple[FrontPoint, ...]
    unit: str
    start_cost: float

    def rows(self) -> list[dict[str, Any]]:
        """One row per point, by rising cost."""
        return [asdict(point) | {"unit": self.unit} for point in sorted(self.points, key=lambda point: point.cost)]

    def table(self) -> pd.DataFrame:
        """The rows as a table."""
        return pd.DataFrame(self.rows())

    def __str__(self) -> str:
        return self.table().drop(columns="levels").to_string(index=False, na_rep="", float_format="{:,.4f}".format)


def level_front(
    ann: nn.Module,
    batches: Iterable[Any],
    budgets: Sequence[float | str] | None = None,
    cost: CostKind = "timesteps",
    values: Sequence[int] = VALUES,
    *,
    labelled: Iterable[tuple[Tensor, Tensor]] | None = None,
    score: str = "kl",
    rounds: int = 1,
    held_out: float = HELD_OUT,
    seed: int = 0,
    bar: bool = False,
) -> LevelFront:
    """Plans within each budget, by default some between the cheapest plan and the start, with the baselines.

    Losses and agreements are on held-out calibration images; `labelled` images only add accuracies, nothing is chosen
    by them.
    """
    planner = make_planner(ann, batches, cost, values, score, rounds, held_out, seed, bar)
    labelled = None if labelled is None else list(labelled)
    found = _assignments(planner, budgets, bar)
    points = []
    for name, assignment in found:
        row = contender(name, assignment, planner.search, planner.held_out)
        accuracy = None if labelled is None else accuracy_of(planner.search.judge.network, assignment, labelled)
        points.append(FrontPoint(**asdict(row), accuracy=accuracy))
    search = planner.search
    return LevelFront(tuple(points), search.cost.unit, search.cost(search.judge.network.start))


def _assignments(planner: Planner, budgets: Sequence[float | str] | None, bar: bool) -> list[tuple[str, Assignment]]:
    search = planner.search
    start, least = search.cost(search.judge.network.start), search.cost(search.cheapest())
    numbers = _default_budgets(least, start) if budgets is None else [_cost(each, start, least) for each in budgets]
    planned = [
        next(iter(planner.compared(budget, search.near(budget, planner.rounds).assignment)[0].values()))
        for budget in tqdm(numbers, desc="front", leave=False, disable=None if bar else True)
    ]
    found = [("start", search.judge.network.start), *(("plan", assignment) for assignment in planned)]
    found += [("uniform", search.uniform(levels)) for levels in search.values]
    return found + [("AL metric", assignment) for assignment in al_points(search, planned[-1])]


def _default_budgets(least: float, start: float) -> list[float]:
    """Spread evenly in ratios, dearest first."""
    return [start * (least / start) ** (point / _POINTS) for point in range(1, _POINTS)] if least < start else [start]


def _cost(budget: float | str, start: float, least: float) -> float:
    cost = read_budget(budget, start).cost
    if cost is None:
        raise PascalError(f"budgets: got {budget!r}, expected costs or shares; plan_levels takes points of agreement")
    if cost < least:
        raise PascalError(f"budgets: got {budget}, but the cheapest plan costs {least:g}; leave it out")
    return cost


def accuracy_of(network: Network, assignment: Assignment, labelled: Sequence[tuple[Tensor, Tensor]]) -> float:
    """The share of labelled images that the network with these levels gets right."""
    ann = network.copy(assignment)
    tensor = next(ann.parameters())
    right = images = 0
    with torch.inference_mode():
        for pixels, labels in labelled:
            predicted = ann(pixels.to(tensor.device, tensor.dtype)).argmax(1)
            right += int((predicted == labels.to(predicted.device)).sum())
            images += len(labels)
    if not images:
        raise PascalError("labelled: got no images, expected batches of images and labels, or None")
    return right / images
