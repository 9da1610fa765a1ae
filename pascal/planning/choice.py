"""The exact choice: one setting per layer with the least sum of scores whose sum of costs is within the budget."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_diag, csr_array

Layer = Sequence[tuple[float, float]]  # score and cost of each option; the first is the present one


def choose(
    layers: Sequence[Layer], budget: float, most_changes: int | None = None, least: float = -np.inf
) -> list[int] | None:
    """The option of each layer, or None where nothing costs `least` to `budget`. Of equal sums the cheapest wins."""
    scores = np.array([score for layer in layers for score, _ in layer])
    costs = np.array([cost for layer in layers for _, cost in layer])
    ends = np.cumsum([0, *map(len, layers)])
    unit = np.abs(costs).max() or 1.0
    one_each = LinearConstraint(csr_array(block_diag([np.ones((1, len(layer))) for layer in layers])), 1, 1)
    within = LinearConstraint(costs[None] / unit, least / unit, budget / unit)
    kept = np.zeros((1, len(scores)))
    kept[0, ends[:-1]] = 1
    fewest_kept = 0 if most_changes is None else len(layers) - most_changes
    spread = np.ptp(scores) or 1.0
    cheaper = 1e-7 * costs / (np.abs(costs).sum() or 1.0)
    found = milp(
        scores / spread + cheaper,
        constraints=[one_each, within, LinearConstraint(kept, fewest_kept, np.inf)],
        integrality=np.ones(len(scores)),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )
    if found.x is None:
        return None
    return [int(np.argmax(found.x[first:last])) for first, last in pairwise(ends)]
