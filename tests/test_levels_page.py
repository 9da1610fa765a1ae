"""The pages of results and levels tell what the files of the studies hold; plans hold what they promise there."""

import json

import pytest

from benchmarks.publishing.levels_page import (
    FOLDER,
    NETWORKS,
    PAGE,
    RESULTS,
    groups,
    page_section,
    results_section,
    study,
)
from benchmarks.publishing.pages import with_section

REMEDY = "run python -m benchmarks.publishing.levels_page"


def test_pages_tell_what_the_files_hold() -> None:
    for page, section in ((RESULTS, results_section()), (PAGE, page_section())):
        text = page.read_text()
        assert "<!-- levels -->" in text
        assert text == with_section(text, "levels", section), REMEDY


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_every_number_says_where_it_is_from(path) -> None:
    record = json.loads(path.read_text())
    assert record["command"].startswith("python -m benchmarks.studies.levels")
    assert record["commit"]
    assert record["test_images"] >= 1000
    assert all(sum(row["levels"]) == row["cost"] for row in record["rows"])


@pytest.mark.parametrize("name", [name for name in NETWORKS if study(name)])
def test_plans_are_within_their_budgets(name: str) -> None:
    plans = [group for group in groups(name) if group.name == "planner"]
    assert plans
    assert all(row["cost"] <= row["budget"] for plan in plans for row in plan.rows)
