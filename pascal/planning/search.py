"""The search: measure around an operating point, choose exactly, measure what was chosen, and again from there."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pascal.errors import PascalError
from pascal.planning.choice import choose
from pascal.planning.costs import Cost
from pascal.planning.network import Assignment, Change, Setting
from pascal.planning.sensitivity import Judge, Sensitivity, paired
from pascal.planning.thresholds import KEPT_FROM, Scales, fit_scales, least_squares

Measure = Callable[[Assignment, list[Change]], Sensitivity]
_NEARBY = (0.85, 1.18)  # multiples of a fitted threshold that a later round may move to
_CAUTIONS = (2.0, 0.0)  # standard errors that a change must be worth more than it seems
_CORRECTIONS = 8  # of the budget, where costs are not quite additive
CLOSE = 0.98  # of the budget: near enough


@dataclass(frozen=True)
class Found:
    """A plan, and the loss that the scores foretold for it."""

    assignment: Assignment
    predicted: float
    sensitivity: Sensitivity


class Search:
    """Plans for any budget; what was measured around a point serves every budget near it."""

    def __init__(self, judge: Judge, cost: Cost, values: Sequence[int], measure: Measure | None = None) -> None:
        self.judge, self.cost, self.values = judge, cost, tuple(values)
        self._measure = measure or judge.sensitivity
        self._scales: Scales = {}
        self._squared: Scales = {}
        self._around: dict[tuple[Change, ...], Sensitivity] = {}
        self._prices: dict[Change, float] = {}
        self._base: Assignment = {}

    def near(self, budget: float, rounds: int) -> Found:
        """The best plan found within the budget: from the nearest uniform one, then again from its own results."""
        anchor = min(self.anchors(), key=lambda point: abs(math.log(max(self.cost(point), 1e-300) / budget)))
        found = self._step(anchor, budget, None)
        for _ in range(rounds):
            better = self._step(found.assignment, budget, found)
            if better.assignment == found.assignment:
                break
            found = better
        return self._spend(found, budget)

    def onward(self, point: Assignment, budget: float) -> Found:
        """What the rest of the budget buys on top of a cheaper assignment."""
        return self._spend(self._step(point, budget, None), budget)

    def _spend(self, found: Found, budget: float) -> Found:
        """What is left of the budget goes where it promises most, unless the loss is measured to rise by it."""
        if self.cost(found.assignment) >= CLOSE * budget:
            return found
        nearest = self._around.get(tuple(found.assignment.items()), found.sensitivity)
        for around in dict.fromkeys((nearest, found.sensitivity)):
            fuller = self._solve(around, budget, 0.0, None, filled=True)
            if fuller is not None and self.cost(fuller.assignment) > self.cost(found.assignment):
                gain = paired(self.judge.loss(found.assignment), self.judge.loss(fuller.assignment))
                if gain.mean > -gain.error:
                    return fuller
        return found

    def anchors(self) -> list[Assignment]:
        """The start, where its levels are allowed, and the uniform assignments."""
        start = self.judge.network.start
        kept = [start] if {setting.levels for setting in start.values()} <= set(self.values) else []
        return kept + [point for levels in self.values if (point := self.uniform(levels)) != start]

    def uniform(self, levels: int) -> Assignment:
        """The same levels everywhere, thresholds kept."""
        return {path: Setting(levels) for path in self.judge.network.layers}

    def fitted(self, levels: dict[str, int], around: Assignment) -> Assignment:
        """Given levels, each with the threshold that serves it best around a point."""
        self._fit(around, levels.items())
        return {path: Setting(value, self._scales[path, value]) for path, value in levels.items()}

    def cheapest(self) -> Assignment:
        """The plan with the fewest levels everywhere."""
        fewest = dict.fromkeys(self.judge.network.layers, min(self.values))
        return {path: Setting(value, self._squares().get((path, value), 1.0)) for path, value in fewest.items()}

    def _fit(self, point: Assignment, wanted: Iterable[tuple[str, int]]) -> None:
        missing = [key for key in wanted if key not in self._scales]
        if missing:
            self._scales |= fit_scales(self.judge, point, missing, self._squares())

    def _squares(self) -> Scales:
        if not self._squared:
            network, images = self.judge.network, self.judge.images
            self._squared = least_squares(network, images, [v for v in self.values if v < KEPT_FROM])
        return self._squared

    def _step(self, point: Assignment, budget: float, present: Found | None) -> Found:
        """Choose around a point with more and with less caution and reach, and keep what is measured to be better."""
        sensitivity = self._sensitivity(point)
        if present is None and self.cost(point) <= budget:
            present = Found(point, float(sensitivity.loss.mean()), sensitivity)
        reaches = (None, max(len(point) // 2, 1), max(len(point) // 4, 1))
        proposals = [self._solve(sensitivity, budget, caution, reach) for caution in _CAUTIONS for reach in reaches]
        found = [each for each in (present, *proposals) if each]
        if not found:
            raise PascalError(
                f"budget: no plan of levels {self.values} fits {budget:g} {self.cost.unit}; raise the budget"
            )
        best = found[0]
        for other in found[1:]:
            gain = paired(self.judge.loss(best.assignment), self.judge.loss(other.assignment))
            if gain.mean > gain.error:  # smaller differences decide nothing
                best = other
        return best

    def _sensitivity(self, point: Assignment) -> Sensitivity:
        key = tuple(point.items())
        if key not in self._around:
            self._fit(point, [(path, levels) for path in point for levels in self._neighbours(point[path].levels)])
            changes = [(path, option) for path in point for option in self._options(path, point[path])]
            self._around[key] = self._measure(point, changes)
        return self._around[key]

    def _options(self, path: str, present: Setting) -> list[Setting]:
        """The present setting first, then the next larger and smaller levels, and thresholds near a fitted one."""
        others = [Setting(levels, self._scales[path, levels]) for levels in self._neighbours(present.levels)]
        if present.levels < KEPT_FROM and present.scale != 1:
            others += [Setting(present.levels, round(present.scale * factor, 4)) for factor in _NEARBY]
        return list(dict.fromkeys([present, *others]))

    def _neighbours(self, levels: int) -> list[int]:
        """The next larger and the next smaller value: steps further away come in later rounds."""
        larger, smaller = [v for v in self.values if v > levels], [v for v in self.values if v < levels]
        return ([min(larger)] if larger else []) + ([max(smaller)] if smaller else [])

    def _solve(
        self, around: Sensitivity, budget: float, caution: float, reach: int | None, filled: bool = False
    ) -> Found | None:
        """The exact choice for these scores; a change must be worth `caution` standard errors more than it seems.

        A `filled` one spends nearly all of the budget, though scores may be too noisy to tell where it helps.
        """
        point = around.point
        self._base = self._base or point
        options = {path: self._options(path, point[path]) for path in point}
        scores = {(path, option): around.score((path, option)) for path in point for option in options[path]}
        layers = [
            [(scores[path, o].mean + caution * scores[path, o].error, self._price(path, o)) for o in options[path]]
            for path in point
        ]
        allowed, best = budget - self.cost(self._base), None
        for _ in range(_CORRECTIONS):
            chosen = choose(layers, allowed, reach, allowed - (1 - CLOSE) * budget if filled else -math.inf)
            if chosen is None:
                break
            plan = {path: options[path][index] for path, index in zip(point, chosen, strict=True)}
            real = self.cost(plan)
            if real <= budget and (best is None or real > self.cost(best)):
                best = plan
            modelled = self.cost(self._base) + sum(self._price(*change) for change in plan.items())
            if CLOSE * budget <= real <= budget or (real <= budget and math.isclose(real, modelled, rel_tol=1e-9)):
                break
            allowed += (budget if real > budget else (1 + CLOSE) / 2 * budget) - real
        if best is None:
            return None
        predicted = float(around.loss.mean()) + sum(scores[change].mean for change in best.items())
        return Found(best, predicted, around)

    def _price(self, path: str, option: Setting) -> float:
        """What a change of one layer adds to the cost of the first operating point."""
        if (path, option) not in self._prices:
            self._prices[path, option] = self.cost({**self._base, path: option}) - self.cost(self._base)
        return self._prices[path, option]
