"""`plan_levels`: which L? Levels and thresholds per layer, within a budget, by what they do to the network's output."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from pascal.checks import check_number, check_whole
from pascal.errors import PascalError
from pascal.neurons.qcfs import check_levels
from pascal.planning.baselines import at_random, by_metric, by_uniform, contender, mean_of
from pascal.planning.budget import FEWEST_IMAGES, HELD_OUT, read_budget
from pascal.planning.costs import CostKind, make_cost
from pascal.planning.fisher import Fisher
from pascal.planning.network import Assignment, Network, Setting, levels_of
from pascal.planning.record import Contender, LayerPlan, LevelPlan
from pascal.planning.search import CLOSE, Found, Search
from pascal.planning.sensitivity import Judge, paired

VALUES = (8, 4, 2, 1)
_MANY_IMAGES = 500  # with fewer, plans were measured to lose accuracy
_BISECTIONS = 6


@dataclass(frozen=True)
class Planner:
    """A search on the planning images, and a judge on the held-out ones."""

    search: Search
    held_out: Judge
    rounds: int
    seed: int
    score: Fisher | None

    def plan(self, budget: float, asked: float | str, found: Found | None = None) -> LevelPlan:
        """The plan within a budget, unless uniform levels or the metric's do better on the held-out images."""
        found = found or self.search.near(budget, self.rounds)
        named, rows = self.compared(budget, found.assignment)
        kept = next(iter(named))
        if kept != "plan" and rows[kept].cost < CLOSE * budget:
            onward = self.search.onward(named[kept], budget)
            again = self.compared(budget, onward.assignment)
            if next(iter(again[0])) == "plan":
                found, (named, rows), kept = onward, again, "plan"
        orders = at_random(self.search, found.assignment, self.seed)
        chance = mean_of("random orders", orders, self.search, self.held_out)
        beside = [row for name, row in rows.items() if name != kept]
        return self._record(named[kept], rows[kept], [*beside, chance], found, asked)

    def compared(self, budget: float, plan: Assignment) -> tuple[dict[str, Assignment], dict[str, Contender]]:
        """The plan, uniform levels and the metric's within a budget, and how they do; the best one first.

        That is the one of least loss; but uniform levels of the same cost are given up for a clear gain alone, and so
        is a plan that spends the budget for one that leaves much of it.
        """
        uniform, metric = by_uniform(self.search, budget, plan, self.held_out), by_metric(self.search, budget, plan)
        named = {"plan": plan} | ({"uniform": uniform} if uniform else {}) | ({"AL metric": metric} if metric else {})
        rows = {name: contender(name, assignment, self.search, self.held_out) for name, assignment in named.items()}
        order = sorted(named, key=lambda name: rows[name].loss)  # of equals the plan
        spent = {name: rows[name].cost >= CLOSE * budget for name in named}
        for preferred in ("plan", "uniform"):
            if spent.get(preferred) and (preferred == "uniform" or not spent[order[0]]):
                gain = paired(self.held_out.loss(named[preferred]), self.held_out.loss(named[order[0]]))
                if gain.mean <= gain.error:
                    order = [preferred, *(name for name in order if name != preferred)]
        return {name: named[name] for name in order}, rows

    def within_points(self, points: float, asked: str) -> LevelPlan:
        """The cheapest plan found that keeps all but so many points of agreement, by bisection of the budget."""
        needed = 100 / points
        if len(self.held_out.images) < needed:
            raise PascalError(
                f"budget: {asked!r} needs {needed:.0f} held-out images to be told, got {len(self.held_out.images)}; "
                "give more images, or more points"
            )
        low, high = self.search.cost(self.search.cheapest()), self.search.cost(self.search.judge.network.start)
        best: Found | None = None
        for _ in range(_BISECTIONS):
            middle = (low * high) ** 0.5
            found = self.search.near(middle, 0)
            if 100 * (1 - self.held_out.agreement(found.assignment)) <= points:
                best, high = found, min(middle, self.search.cost(found.assignment))
            else:
                low = middle
        cost = self.search.cost(best.assignment) if best else high
        return self.plan(cost, asked, best)

    def _record(
        self, assignment: Assignment, row: Contender, beside: list[Contender], found: Found, asked: float | str
    ) -> LevelPlan:
        network, judge, cost = self.search.judge.network, self.search.judge, self.search.cost
        return LevelPlan(
            levels=levels_of(assignment),
            ann=network.copy(assignment),
            cost=row.cost,
            start_cost=cost(network.start),
            cost_name=cost.name,
            unit=cost.unit,
            budget=asked,
            predicted_loss=found.predicted,
            planning_loss=float(judge.loss(assignment).mean()),
            measured_loss=row.loss,
            loss_error=row.loss_error,
            agreement=row.agreement,
            kept=row.name,
            layers=tuple(_layer(self.search, found, path, setting) for path, setting in assignment.items()),
            baselines=tuple(beside),
            images=len(judge.images),
            held_out_images=len(self.held_out.images),
            rank_correlation=self.score.rank_correlation if self.score else None,
            notes=self._notes(row),
        )

    def _notes(self, row: Contender) -> tuple[str, ...]:
        notes = []
        if row.name != "plan":
            notes.append(f"kept {row.name}: on the held-out images the plan is not clearly better")
        if len(self.search.judge.images) < _MANY_IMAGES:
            notes.append(f"fewer than {_MANY_IMAGES} images to plan on: scores are noisy; a thousand serve well")
        return tuple(notes)


def plan_levels(
    ann: nn.Module,
    batches: Iterable[Any],
    budget: float | str,
    cost: CostKind = "timesteps",
    values: Sequence[int] = VALUES,
    *,
    score: str = "kl",
    rounds: int = 2,
    held_out: float = HELD_OUT,
    seed: int = 0,
    bar: bool = False,
) -> LevelPlan:
    """Levels per layer that keep the output closest to the start's, within a budget; labels are not looked at.

    `budget`: a number in the cost's unit, a share of the start's cost (`0.5`, `"50%"`), or `"0.5 points"` of agreement.
    `cost`: timesteps, synops, energy, latency, an `EnergyCosts`, an `Accelerator`, or a function of {layer: levels}.
    """
    planner = make_planner(ann, batches, cost, values, score, rounds, held_out, seed, bar)
    start, cheapest = planner.search.judge.network.start, planner.search.cheapest()
    asked = read_budget(budget, planner.search.cost(start))
    if asked.points is not None:
        return planner.within_points(asked.points, str(budget))
    assert asked.cost is not None
    if asked.cost < (least := planner.search.cost(cheapest)):
        unit = planner.search.cost.unit
        raise PascalError(
            f"budget: got {budget} ({asked.cost:g} {unit}), but the cheapest plan of levels {tuple(values)} costs "
            f"{least:g}; raise the budget, or allow fewer levels"
        )
    return planner.plan(asked.cost, budget)


def make_planner(
    ann: nn.Module,
    batches: Iterable[Any],
    cost: CostKind,
    values: Sequence[int],
    score: str,
    rounds: int,
    held_out: float,
    seed: int,
    bar: bool,
) -> Planner:
    """Everything checked, the images gathered and split, nothing measured yet."""
    allowed = _checked_values(values)
    if score not in ("kl", "fisher"):
        raise PascalError(f"score: got {score!r}, expected 'kl' (measured) or 'fisher' (cheaper)")
    if not isinstance(rounds, int) or isinstance(rounds, bool) or rounds < 0:
        raise PascalError(f"rounds: got {rounds!r}, expected a whole number >= 0")
    if not 0 < check_number(held_out, "held_out") < 1:
        raise PascalError(f"held_out: got {held_out!r}, expected a share between 0 and 1")
    check_whole(seed, "seed", least=0)
    network = Network(ann)
    images = network.gather(batches, held_out, FEWEST_IMAGES, seed)
    judge = Judge(network, images.planning, bar)
    fisher = Fisher(judge, seed) if score == "fisher" else None
    search = Search(judge, make_cost(cost, network, images.planning), allowed, fisher)
    return Planner(search, Judge(network, images.held_out), rounds, seed, fisher)


def _checked_values(values: Sequence[int]) -> tuple[int, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence) or not values or len(set(values)) != len(values):
        raise PascalError(f"values: got {values!r}, expected different levels to choose from, such as (8, 4, 2, 1)")
    return tuple(check_levels(value, "values") for value in sorted(values, reverse=True))


def _layer(search: Search, found: Found, path: str, setting: Setting) -> LayerPlan:
    """What a step down and a step up did to the loss around the operating point that the plan was chosen from."""
    around = found.sensitivity
    changed = sorted((s for p, s in around.changed if p == path), key=lambda s: s.levels)
    present = around.point[path].levels
    fewer = [s for s in changed if s.levels < present][-1:]
    more = [s for s in changed if s.levels > present][:1]

    def told(options: list[Setting]) -> tuple[int | None, float | None, float | None]:
        if not options:
            return None, None, None
        score = around.score((path, options[0]))
        return options[0].levels, score.mean, score.error

    start = search.judge.network.layers[path].levels
    return LayerPlan(path, setting.levels, start, setting.scale, present, *told(fewer), *told(more))
