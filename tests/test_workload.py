"""Workloads as rows of text and back."""

import csv
import io
from dataclasses import fields, replace

import pytest

from pascal.errors import PascalError
from pascal.workload import LayerWorkload, workload_row, workloads_from_rows

LAYER = LayerWorkload("a", "conv", (3, 8, 8), (4, 8, 8), (3, 3), producers=("x", "y"), graded_input=True)


def through_csv(workload: LayerWorkload) -> LayerWorkload:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(LayerWorkload)])
    writer.writeheader()
    writer.writerow(workload_row(workload))
    (found,) = workloads_from_rows(csv.DictReader(io.StringIO(text.getvalue())))
    return found


def test_a_row_is_read_as_it_was_written() -> None:
    assert through_csv(LAYER) == LAYER


@pytest.mark.parametrize("name", [field.name for field in fields(LayerWorkload) if "float" in str(field.type)])
def test_no_float_field_loses_its_fraction(name: str) -> None:
    workload = replace(LAYER, **{name: 0.1 + 0.2})  # type: ignore[arg-type]
    assert through_csv(workload) == workload


@pytest.mark.parametrize(
    ("name", "value"), [("macs", "2.5"), ("macs", "inf"), ("graded_input", "maybe"), ("levels", "x")]
)
def test_what_is_no_value_of_the_field_is_refused(name: str, value: str) -> None:
    with pytest.raises(PascalError, match=f"column '{name}': cannot read '{value}'"):
        workloads_from_rows([workload_row(LAYER) | {name: value}])
