"""Rows are checked by column before anything is computed from them."""

import math

import pandas as pd
import pytest

from pascal.errors import PascalError
from pascal.report.rows import filled, frame, levels_text, over_seeds, shares


def test_a_missing_column_is_named_with_its_file():
    with pytest.raises(PascalError, match=r"train.csv: column 'loss' is missing, found epoch"):
        frame([{"epoch": 1}], ["epoch", "loss"], "train.csv")


def test_numbers_may_come_as_text_and_empty_cells_are_missing():
    table = frame([{"run": "007", "epoch": "1", "loss": ""}, {"run": "007", "epoch": "2", "loss": "0.5"}], [], "rows")
    assert table.epoch.tolist() == [1, 2]
    assert math.isnan(table.loss[0])
    assert table.loss[1] == 0.5
    assert table.run.tolist() == ["007", "007"]  # a name stays a name


def test_digits_stay_as_printed_where_numbers_are_not_wanted():
    assert frame([{"reported": "0.40"}], [], "audit", numbers=False).reported[0] == "0.40"


def test_the_given_rows_are_not_changed():
    given = pd.DataFrame({"a": ["", "1"]})
    table = frame(given, ["a"], "rows")
    table["a"] = 7
    assert given.a.tolist() == ["", "1"]


def test_no_rows_make_an_empty_table_but_no_figure():
    assert list(frame([], ["a", "b"], "rows").columns) == ["a", "b"]
    with pytest.raises(PascalError, match="nothing to draw"):
        filled([], ["a"], "rows")


def test_a_percentage_where_a_share_belongs_is_refused():
    with pytest.raises(PascalError, match=r"accuracy is 93.5, expected a share"):
        shares(pd.DataFrame({"accuracy": [0.9, 93.5]}), ["accuracy"], "accuracy.json")


def test_mean_and_sample_deviation_in_order_of_appearance():
    table = pd.DataFrame({"run": ["b", "a", "b", "b"], "x": [1.0, 5.0, 2.0, None]})
    summary = over_seeds(table, ["run"], ["x"])
    assert summary.run.tolist() == ["b", "a"]
    assert summary.x.tolist() == [1.5, 5.0]
    assert summary.x_std[0] == pytest.approx(math.sqrt(0.5))
    assert math.isnan(summary.x_std[1])  # one seed has no deviation


def test_levels_are_one_number_or_a_list():
    assert levels_text([4, 4, 4]) == "4"
    assert levels_text([4, 2, 1]) == "4 2 1"
