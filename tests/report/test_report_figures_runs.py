"""Figures over runs, costs and assumptions: accuracy, Pareto fronts, equivalence, energy."""

import pytest

from pascal.errors import PascalError
from pascal.report.figures.accuracy import pareto_figure, pareto_front, timesteps_figure
from pascal.report.figures.cost import components_figure
from pascal.report.figures.equivalence import equivalence_figure
from pascal.report.figures.sensitivity import energy_sensitivity_figure, hardware_sensitivity_figure
from tests.report import samples
from tests.report.readable import assert_readable
from tests.report.samples import over

SEEDS = [1, 20]


def curves(run, panel, seeds):
    return [
        {"run": run, "seed": seed, "panel": panel, "timesteps": t, "accuracy": 0.9 - 0.3 / t, "images": 60}
        for seed in range(seeds)
        for t in (1, 2, 4, 8, 16, 32, 64)
    ]


@pytest.mark.parametrize("seeds", SEEDS)
def test_timesteps_show_curves_and_stars_and_name_what_is_missing(seeds):
    points = [{"run": "a", "seed": 0, "panel": "one", "t_eff": 4.2, "snn_accuracy": 0.9}]
    figure = timesteps_figure(curves("a", "one", seeds) + curves("b", "two", seeds), points)
    first, second = figure.axes
    assert [axes.get_ylabel() for axes in figure.axes] == ["test accuracy (%)"] * 2
    stars = [line for line in first.lines if line.get_marker() == "*" and len(line.get_xdata())]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in stars] == [(4.2, 90.0)]
    assert not [line for line in second.lines if line.get_marker() == "*"]
    assert figure.get_supxlabel() == "not shown in full, results missing: b"
    assert first.get_title() == "one: 60 test images"
    assert first.get_ylim()[1] <= 101
    assert_readable(figure)


@pytest.mark.parametrize(("runs", "seeds"), [(1, 1), (4, 1), (20, 20)])
def test_pareto_has_a_point_per_run(runs, seeds):
    rows = [
        {"run": f"run-{run}", "seed": seed, "panel": "cifar10", "cost": 1.0 + run, "accuracy": 0.9 - 0.1 / (1 + run)}
        for run in range(runs)
        for seed in range(seeds)
    ]
    missing = {"run": "failed", "seed": 0, "panel": "cifar10", "cost": None, "accuracy": None}
    figure = pareto_figure([*rows, missing], "energy per image (µJ)")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("energy per image (µJ)", "SNN accuracy (%)")
    assert len(axes.containers) == runs
    (front,) = [line for line in axes.lines if line.get_label() == "Pareto front"]
    assert len(front.get_xdata()) == runs  # each costs more and is better
    assert figure.get_supxlabel().endswith("missing: failed")
    assert_readable(figure)


@pytest.mark.parametrize(
    ("costs", "accuracies", "front"),
    [
        ([1, 2, 3], [0.5, 0.4, 0.6], [0, 2]),
        ([3, 1, 2], [0.6, 0.5, 0.5], [1, 0]),
        ([1, 1], [0.5, 0.5], [0, 1]),  # equal points do not beat each other
        ([1, 1], [0.5, 0.6], [1]),
        ([], [], []),
    ],
)
def test_the_front_holds_what_nothing_beats(costs, accuracies, front):
    assert pareto_front(costs, accuracies) == front


@pytest.mark.parametrize("levels", [1, 4, 32])
def test_equivalence_counts_what_is_off_the_diagonal(levels):
    rows = [{"neuron": "PASC", "ann_count": c, "snn_count": c, "neurons": 10} for c in range(levels + 1)]
    rows += [{"neuron": "plain IF", "ann_count": 0, "snn_count": 1, "neurons": 7}]
    rows += [{"neuron": "plain IF", "ann_count": 1, "snn_count": 1, "neurons": 3}]
    figure = equivalence_figure(rows)
    assert figure.axes[0].get_title() == f"PASC: all {10 * (levels + 1)} counts\nequal the ANN's levels"
    assert figure.axes[1].get_title() == "plain IF: 7 of 10 counts\ndiffer from the ANN's levels (70.00%)"
    assert figure.axes[1].images[0].get_array()[1, 0] == 7  # row: count of the SNN
    assert_readable(figure)


@pytest.mark.parametrize("seeds", SEEDS)
def test_components_add_up_to_the_mean_over_seeds(seeds):
    rows = over(seeds, lambda seed: samples.energy_rows(33, seed))
    figure = components_figure(rows)
    assert [axes.get_title("left") for axes in figure.axes] == ["FP32", "INT8"]
    assert figure.axes[0].get_xlabel() == "energy per image (µJ)"
    first = sum(bars[0].get_width() for bars in figure.axes[0].containers)
    pasc = [row["total_pj"] for row in rows if (row["costs"], row["network"]) == ("FP32", "SNN PASC")]
    assert first == pytest.approx(sum(pasc) / seeds / 1e6)
    assert_readable(figure)


def test_components_need_at_least_one():
    with pytest.raises(PascalError, match="no column ends in '_pj'"):
        components_figure([{"costs": "FP32", "network": "ANN"}])


@pytest.mark.parametrize("seeds", SEEDS)
def test_energy_sensitivity_sorts_winners(seeds):
    rows = over(seeds, samples.sensitivity_rows)
    figure = energy_sensitivity_figure(rows)
    for axes in figure.axes:
        snn, ann = (next(line for line in axes.lines if line.get_label() == f"{name} wins") for name in ("SNN", "ANN"))
        assert min(snn.get_xdata()) > 1 >= max(ann.get_xdata())
        assert len(snn.get_xdata()) + len(ann.get_xdata()) == 8
    assert_readable(figure)


@pytest.mark.parametrize("seeds", [1, 3])
def test_hardware_sensitivity_has_three_scopes_per_setting(seeds):
    rows = over(seeds, samples.hardware_sensitivity_rows)
    figure = hardware_sensitivity_figure(rows)
    (axes,) = figure.axes
    points = [line for line in axes.lines if line.get_label() in ("compute", "on chip", "with DRAM")]
    assert [len(line.get_xdata()) for line in points] == [len(rows) // seeds] * 3
    assert axes.get_yticklabels()[0].get_text() == "DRAM, pJ per bit: 3.9"
    assert_readable(figure)
