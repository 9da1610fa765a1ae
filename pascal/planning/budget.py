"""What may be spent: a number in the cost's unit, a share of the start's cost, or points of agreement given up."""

import math
import re
from dataclasses import dataclass
from numbers import Real

from pascal.errors import PascalError

FEWEST_IMAGES = 32  # to plan on
HELD_OUT = 0.25  # share of them that plans are judged on
_EXPECTED = "a number > 0 in the cost's unit, a share of the start's cost such as 0.5 or '50%', or '0.5 points'"
_TEXT = re.compile(r"(?:within )?\s*([0-9.]+(?:e-?[0-9]+)?)\s*(%|points?(?: of agreement)?)?\s*")


@dataclass(frozen=True)
class Budget:
    """Either the most that a plan may cost, or the most points of agreement with the start that it may lose."""

    cost: float | None = None
    points: float | None = None


def read_budget(budget: float | str, start_cost: float) -> Budget:
    """`66`, `0.5` or `"50%"` of what the start costs, or `"0.5 points"`."""
    number, unit = _number(budget)
    if unit.startswith("point"):
        if number >= 100:
            raise PascalError(f"budget: got {budget!r}, expected fewer than 100 points of agreement")
        return Budget(points=number)
    if unit == "%" or number < 1:
        if unit != "%" and start_cost <= 1:
            raise PascalError(
                f"budget: got {budget!r} where the start costs {start_cost:g}: a share or a cost? "
                "write the share as '50%', or scale the cost"
            )
        return Budget(cost=start_cost * number / (100 if unit == "%" else 1))
    return Budget(cost=number)


def _number(budget: float | str) -> tuple[float, str]:
    if isinstance(budget, str):
        found = _TEXT.fullmatch(budget.strip())
        try:
            number, unit = (float(found[1]), found[2] or "") if found else (math.nan, "")
        except ValueError:
            number, unit = math.nan, ""
    elif isinstance(budget, bool) or not isinstance(budget, Real):
        number, unit = math.nan, ""
    else:
        number, unit = float(budget), ""
    if not (math.isfinite(number) and number > 0):
        raise PascalError(f"budget: got {budget!r}, expected {_EXPECTED}")
    return number, unit
