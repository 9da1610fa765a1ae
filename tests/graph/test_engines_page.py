"""docs/engines.md tells what the measured files hold, misses included."""

import pandas as pd
import pytest

from benchmarks.publishing.engines_page import PAGE, RESULTS, measured
from benchmarks.publishing.pages import with_section
from benchmarks.speed.engines import TARGETS, variants
from benchmarks.speed.timing import Times


def test_the_page_tells_what_the_files_hold() -> None:
    page = PAGE.read_text()
    assert page == with_section(page, "engines", measured(RESULTS)), "run python -m benchmarks.publishing.engines_page"


def test_a_miss_is_shown(tmp_path) -> None:
    for path in RESULTS.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    times = pd.read_csv(tmp_path / "engines_times.csv")
    times.loc[0, ["wall_ratio", "met"]] = [1.37, False]
    times.to_csv(tmp_path / "engines_times.csv", index=False)
    assert "1.37 (≤ 1.1, missed)" in measured(tmp_path)


def test_every_recorded_target_is_judged_by_its_own_ratio() -> None:
    for row in pd.read_csv(RESULTS / "engines_times.csv").itertuples():
        sign, limit = TARGETS[row.variant, row.unit](row.levels)
        assert row.met == (row.wall_ratio <= limit if sign == "≤" else row.wall_ratio >= limit)
        assert row.variant in [*variants(row.levels), "SpikingJelly"]


def test_ratios_are_of_turns_and_not_of_medians() -> None:
    ratios = Times([2.0, 9.0, 4.0], [1.0, 1.0, 1.0]).ratios(Times([1.0, 3.0, 4.0], [2.0, 2.0, 2.0]))
    assert ratios["wall_ratio"] == pytest.approx(2.0)
    assert ratios["cpu_ratio"] == 0.5
