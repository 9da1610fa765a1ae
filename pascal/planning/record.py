"""A plan and what stands beside it, as records that print."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd
from torch import nn


@dataclass(frozen=True)
class Contender:
    """One way to spend the budget: its cost, and its loss and agreement on the held-out images."""

    name: str
    levels: tuple[int, ...]  # in forward order; of several random orders: none
    cost: float
    loss: float  # KL(start ‖ this), in nats
    loss_error: float
    agreement: float  # share of predictions that are the start's


@dataclass(frozen=True)
class LayerPlan:
    """One layer: what it got, and what a step down and a step up were measured to do to the loss."""

    layer: str
    levels: int
    start_levels: int
    threshold_scale: float
    measured_at: int  # the levels around which the scores were measured
    fewer: int | None
    loss_of_fewer: float | None
    error_of_fewer: float | None
    more: int | None
    loss_of_more: float | None
    error_of_more: float | None


@dataclass(frozen=True, eq=False)
class LevelPlan:
    """Levels per layer within a budget; `ann` is a copy of the network with these levels and thresholds."""

    levels: dict[str, int]
    ann: nn.Module
    cost: float
    start_cost: float
    cost_name: str
    unit: str
    budget: float | str
    predicted_loss: float  # by the scores, on the planning images
    planning_loss: float  # measured, on the same images
    measured_loss: float  # on the held-out images
    loss_error: float
    agreement: float
    kept: str  # the contender that the levels are of: "plan", or a baseline that did better
    layers: tuple[LayerPlan, ...]
    baselines: tuple[Contender, ...]
    images: int
    held_out_images: int
    rank_correlation: float | None = None  # of a cheaper score with the measured one
    notes: tuple[str, ...] = field(default=())

    def layer_table(self) -> pd.DataFrame:
        """One row per layer."""
        return pd.DataFrame([asdict(layer) for layer in self.layers])

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """The ways to spend the budget, the one that was kept first."""
        levels = tuple(self.levels.values())
        kept = Contender(self.kept, levels, self.cost, self.measured_loss, self.loss_error, self.agreement)
        return (kept, *self.baselines)

    def baseline_table(self) -> pd.DataFrame:
        """One row per way to spend the budget, the one that was kept first."""
        return pd.DataFrame([asdict(row) for row in self.contenders])

    def to_json(self) -> dict[str, Any]:
        """Everything but the network."""
        rows = {"layers": map(asdict, self.layers), "baselines": map(asdict, self.baselines)}
        return {**_without(vars(self), "ann"), **{name: list(some) for name, some in rows.items()}}

    def __str__(self) -> str:
        head = f"{self.kept}: {self.cost:,.6g} of {self.start_cost:,.6g} {self.unit} (budget {self.budget})"
        loss = (
            f"KL {self.measured_loss:.4f} ± {self.loss_error:.4f} on {self.held_out_images} held-out images, "
            f"foretold {self.predicted_loss:.4f} and measured {self.planning_loss:.4f} on the {self.images} planned on"
        )
        beside = self.baseline_table().drop(columns="levels").to_string(index=False, float_format="{:,.4f}".format)
        layers = self.layer_table().to_string(index=False, na_rep="", float_format="{:,.4f}".format)
        return "\n".join([head, loss, beside, layers, *self.notes])


def _without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
