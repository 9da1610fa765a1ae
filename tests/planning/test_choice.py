"""The choice is the best of all, and budgets mean what they say."""

import itertools
import random

import pytest

from pascal.errors import PascalError
from pascal.planning.budget import Budget, read_budget
from pascal.planning.choice import choose


@pytest.mark.parametrize("seed", range(8))
def test_no_other_choice_is_better(seed: int) -> None:
    rng = random.Random(seed)
    layers = [[(rng.uniform(-1, 1), rng.choice((1.0, 2.5, 4.0, 7.75))) for _ in range(3)] for _ in range(5)]
    budget, reach = rng.uniform(8, 25), rng.choice((None, 2))
    fitting = []
    for option in itertools.product(range(3), repeat=5):
        chosen = [layer[index] for layer, index in zip(layers, option, strict=True)]
        if sum(cost for _, cost in chosen) <= budget and (reach is None or sum(i > 0 for i in option) <= reach):
            fitting.append(sum(score for score, _ in chosen))
    found = choose(layers, budget, reach)
    assert (found is None) == (not fitting)
    if found:
        assert sum(layers[i][index][0] for i, index in enumerate(found)) == pytest.approx(min(fitting), abs=1e-6)
        assert sum(layers[i][index][1] for i, index in enumerate(found)) <= budget


def test_nearly_all_is_spent_where_that_is_asked_for() -> None:
    layers = [[(0.0, 4.0), (0.1, 8.0), (0.5, 2.0)], [(0.0, 4.0), (0.3, 8.0), (0.2, 2.0)]]
    assert choose(layers, 12, least=11) == [1, 0]
    assert choose(layers, 12) == [0, 0]
    assert choose(layers, 12, least=11, most_changes=0) is None


def test_of_equals_the_cheapest() -> None:
    assert choose([[(0.0, 8.0), (0.0, 4.0), (0.0, 1.0)]] * 3, 24) == [2, 2, 2]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (66, Budget(cost=66)),
        (0.5, Budget(cost=76)),
        ("50%", Budget(cost=76)),
        ("66", Budget(cost=66)),
        ("0.5 points", Budget(points=0.5)),
        ("within 0.5 points of agreement", Budget(points=0.5)),
    ],
)
def test_budgets(budget: float | str, expected: Budget) -> None:
    assert read_budget(budget, 152) == expected


@pytest.mark.parametrize("budget", [0, -3, float("nan"), True, None, "much", "1..2", "120 points", [66]])
def test_bad_budgets(budget: object) -> None:
    with pytest.raises(PascalError, match="budget: got"):
        read_budget(budget, 152)  # type: ignore[arg-type]


def test_a_share_of_a_tiny_cost_is_not_guessed() -> None:
    with pytest.raises(PascalError, match="a share or a cost"):
        read_budget(0.5, 0.9)
    assert read_budget("50%", 0.9).cost == pytest.approx(0.45)
