"""What people do to a checkout, and then one tool and the other: nothing stale, nothing too much.

Some situations with the tools in one order; `python -m tests.workflow.matrix` has all of them in both.
"""

from pathlib import Path

import pytest

from tests.workflow.matrix import ORDERS, Oracle, cells
from tests.workflow.situations import SITUATIONS, Situation

pytestmark = pytest.mark.slow
ROWS = [(situation, ORDERS[place % 2]) for place, situation in enumerate(SITUATIONS[:14])]  # the command has all


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    """Fresh runs to compare with."""
    return Oracle(tmp_path_factory.mktemp("oracle"))


@pytest.mark.parametrize(("situation", "order"), ROWS, ids=[f"{row.name}, {tools[0]}" for row, tools in ROWS])
def test_files_are_those_of_a_fresh_run(
    oracle: Oracle, situation: Situation, order: tuple[str, str], tmp_path: Path
) -> None:
    (found,) = cells(oracle, situation, [order], tmp_path)
    assert found.good, found
