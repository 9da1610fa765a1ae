"""What a plan decided, and what a change of levels did before and after training."""

import pytest

from pascal.errors import PascalError
from pascal.report.figures.front import front_figure
from pascal.report.figures.plan import plan_figure
from pascal.report.tables.tuning import tuning
from pascal.report.write import to_markdown
from tests.report import samples
from tests.report.readable import assert_readable


def layers(seed: int) -> list[dict[str, object]]:
    levels = [8, 4, 2, 1, 4]
    return [
        {"layer": f"features.{n}", "levels": level, "loss_of_fewer": None if level == 1 else 0.01 * n + seed / 1000,
         "error_of_fewer": None if level == 1 else 0.002, "seed": seed}
        for n, level in enumerate(levels)
    ]  # fmt: skip


BESIDE = [
    {"name": name, "loss": loss, "loss_error": 0.01} for name, loss in (("plan", 0.06), ("uniform", 0.4), ("AL", 0.1))
]


@pytest.mark.parametrize("seeds", [1, 3])
def test_a_plan_shows_its_layers_and_what_stood_beside_it(seeds: int) -> None:
    figure = plan_figure([row for seed in range(seeds) for row in layers(seed)], BESIDE * seeds)
    left, right = figure.axes
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["L = 8", "L = 4", "L = 2", "L = 1"]
    assert [bar.get_width() for bar in right.patches] == pytest.approx([0.06, 0.4, 0.1])
    assert_readable(figure)


def test_a_front_has_a_panel_for_accuracy_only_where_it_was_measured() -> None:
    rows = [
        {"name": name, "cost": cost, "agreement": 0.9, "accuracy": None, "unit": "cycles"}
        for name, cost in (("plan", 10), ("plan", 20), ("uniform", 12), ("start", 30))
    ]
    (axes,) = front_figure(rows).axes
    assert axes.get_xlabel() == "cost per image, cycles"
    assert len(front_figure([{**row, "accuracy": 0.8} for row in rows]).axes) == 2
    with pytest.raises(PascalError, match="front: no rows"):
        front_figure([])


def test_before_and_after_stand_beside_each_other() -> None:
    tuned = {"method": "plan", "finetune": "gentle", "validation_images": 100, "before_accuracy": 0.9}
    results = [samples.run_results("c10-vgg-l4", 0)]
    for seed, (after, kept) in enumerate(((0.92, "after"), (0.88, "before"))):
        one = samples.run_results("planned", seed, adaptive=True)
        files = {**one.files, "finetune": {**tuned, "after_accuracy": after, "kept": kept}}
        results.append(type(one)(**{**vars(one), "kind": "planned", "files": files}))
    table = tuning(results, [])
    assert list(table.run) == ["planned"]
    row = table.iloc[0]
    assert (row.before_accuracy_percent, row.after_accuracy_percent) == pytest.approx((90, 90))
    assert row.kept == "1 after, 1 before"
    assert "gentle" in to_markdown(table)
