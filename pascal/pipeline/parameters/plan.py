"""`adapt` by a plan: what may be spent, and of what."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from pascal.errors import PascalError
from pascal.pipeline.parameters.base import Part
from pascal.planning.budget import FEWEST_IMAGES, HELD_OUT, read_budget

if TYPE_CHECKING:
    from pascal.pipeline.parameters.adapt import Adapt

BY_METRIC = "metric"  # a budget: what the metric's own levels cost


class Planning(Part):
    """what a plan may spend"""

    budget: Annotated[float | str, Field(union_mode="left_to_right")] | None = Field(
        None,
        description="of a plan: a number in the cost's unit, a share of the start's cost (0.5 or 50%), '0.5 points' of "
        "agreement, or 'metric' for as many timesteps as the metric's levels take",
    )
    cost: Literal["timesteps", "synops", "energy", "latency"] = Field(
        "timesteps", description="of what: pJ at 45 nm in float32, cycles of LoAS"
    )


def plan_faults(where: str, adapt: "Adapt", layers: int) -> Iterator[str]:
    """What stage plan_levels would refuse, after the training of the start."""
    if adapt.budget is None:
        yield f"{where}.budget: got none, expected what the plan may spend, such as 0.5: method is 'plan'"
    elif adapt.budget == BY_METRIC:
        if adapt.cost != "timesteps":
            yield f"{where}.budget: got 'metric', expected a number or a share: it counts timesteps, not {adapt.cost}"
    else:
        yield from _numbers(where, adapt, layers)
    if adapt.images < FEWEST_IMAGES:
        yield f"{where}.images: got {adapt.images}, expected at least {FEWEST_IMAGES} to plan on"


def _numbers(where: str, adapt: "Adapt", layers: int) -> Iterator[str]:
    least, budget = layers * min(adapt.values), adapt.budget
    assert budget is not None
    try:
        read = read_budget(budget, float("inf"))
    except PascalError as error:
        yield f"{where}.{error}"
        return
    if read.points is not None and adapt.images * HELD_OUT < (needed := 100 / read.points):
        yield f"{where}.images: got {adapt.images}, expected at least {needed / HELD_OUT:.0f} to tell {budget}"
    if adapt.cost == "timesteps" and read.cost is not None and read.cost < least:
        yield f"{where}.budget: got {budget}, expected at least {least}: {layers} layers of {min(adapt.values)} or more"
