"""Figures have labelled axes, as many marks as rows, and no label on another or outside the page."""

from functools import partial

import numpy as np
import pytest
from matplotlib.collections import QuadMesh

from pascal.errors import PascalError
from pascal.report.figures.cost import components_figure
from pascal.report.figures.equivalence import equivalence_figure
from pascal.report.figures.layers import activity_figure, histogram_figure, spikes_figure
from pascal.report.figures.metric import metric_figure, metric_threshold_figure
from pascal.report.figures.neuron import pasc_figure, qcfs_figure
from pascal.report.figures.sensitivity import hardware_sensitivity_figure
from pascal.report.figures.training import training_figure
from pascal.report.style import energy_unit, looks, shorten
from pascal.report.trace import trace_pasc
from tests.report import samples
from tests.report.readable import assert_readable
from tests.report.samples import over

SIZES = [(15, 4), (17, 8), (33, 16)]
SEEDS = [1, 20]


def metric_rows(layers, seeds, constant=()):
    rows = []
    for seed in range(seeds):
        metric = samples.metric_rows(layers, seed, constant)
        levels = samples.assigned_levels(metric)
        rows += [{**row, "seed": seed, "level": levels[row["layer"]]} for row in metric]
    return rows


@pytest.mark.parametrize("levels", [1, 4, 32])
def test_qcfs_climbs_its_levels(levels):
    figure = qcfs_figure(levels, 2.0)
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("preactivation z", "activation")
    heights = axes.patches[0].get_data().values
    assert np.allclose(heights, np.arange(levels + 1) * 2.0 / levels)
    assert_readable(figure)


@pytest.mark.parametrize(("timesteps", "levels"), [(1, 1), (4, 4), (16, 8), (2, 32)])
def test_pasc_figure_shows_each_phase(timesteps, levels):
    figure = pasc_figure(trace_pasc([0.75] * timesteps, 0.5, levels), 0.5)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["current (θ*)", "membrane (θ*)", "spikes"]
    titles = [text.get_text() for text in figure.axes[0].texts]
    assert titles == [title for title in titles if title[0] in "123"]
    assert len(titles) == (3 if max(timesteps, levels) > 1 else 2)
    assert len(figure.axes[0].patches) - len(titles) == timesteps  # one bar per timestep, one shade per phase
    assert_readable(figure)


@pytest.mark.parametrize(("layers", "levels"), SIZES)
def test_histograms_have_a_panel_per_layer_that_adds_up(layers, levels):
    figure = histogram_figure(over(2, lambda seed: samples.histogram_rows(layers, levels, seed)))
    assert len(figure.axes) == layers
    for axes in figure.axes:
        assert len(axes.patches) == levels + 1
        assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(100)
    assert figure.get_supylabel() == "neurons (%)"
    assert_readable(figure)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize(("layers", "levels"), SIZES)
def test_metric_figure_marks_each_layer_and_cluster(layers, levels, seeds):
    figure = metric_figure(metric_rows(layers, seeds))
    (axes,) = figure.axes
    assert axes.get_ylabel().startswith("AL metric M (")
    assert sum(len(points.get_offsets()) for points in axes.collections) == layers * seeds
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert len(dashed) == (2 if seeds == 1 else 0)  # between three clusters
    assert_readable(figure)


def test_a_constant_layer_is_named_in_its_place():
    (axes,) = metric_figure(metric_rows(15, 1, constant=(3,))).axes
    assert [(text.get_text(), text.get_position()[0]) for text in axes.texts] == [("constant", 3)]


def test_metric_scale_follows_its_range():
    narrow = [{"layer": name, "metric": 1.0 + place, "level": 4} for place, name in enumerate("abc")]
    wide = [{"layer": name, "metric": 10.0 ** (2 * place), "level": 4} for place, name in enumerate("abc")]
    zero = [*wide, {"layer": "d", "metric": 0.0, "level": 8}]
    assert [metric_figure(rows).axes[0].get_yscale() for rows in (narrow, wide, zero)] == ["linear", "log", "symlog"]


def test_a_metric_of_zero_is_in_view_beside_decades():
    rows = [
        {"layer": name, "metric": value, "level": 4} for name, value in zip("abcd", (0.0, 0.8, 6.0, 40.0), strict=True)
    ]
    for figure in (metric_figure(rows), metric_threshold_figure(samples.by_k_rows(rows))):
        assert figure.axes[0].get_ylim()[0] < 0
        assert_readable(figure)


def test_each_seed_has_a_line_of_its_own():
    (axes,) = metric_figure(metric_rows(15, 3)).axes
    assert sorted(len(line.get_xdata()) for line in axes.lines if len(line.get_xdata())) == [15, 15, 15]
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [name for name in named if name.startswith("seed")] == ["seed 0", "seed 1", "seed 2"]


@pytest.mark.parametrize(("layers", "levels"), SIZES)
def test_metric_for_three_thresholds(layers, levels):
    figure = metric_threshold_figure(samples.by_k_rows(samples.metric_rows(layers)))
    assert [axes.get_title() for axes in figure.axes] == ["moments of the levels", "moments of the frequencies"]
    for axes in figure.axes:
        assert [line.get_label() for line in axes.lines] == ["k = 1", "k = 0.75", "k = 0.5"]
        assert all(len(line.get_xdata()) == layers for line in axes.lines)
    assert_readable(figure)


@pytest.mark.parametrize("seeds", SEEDS)
def test_spikes_have_a_panel_per_network_and_a_line_per_run(seeds):
    rows = []
    for run, network, layers in (("a", "vgg16", 15), ("b", "vgg16", 15), ("c", "resnet34", 33)):
        made = over(seeds, partial(samples.workload_rows, layers, 4), run=run, network=network)
        rows += [{**row, "layer": row["activation"]} for row in made if row["activation"]]
    figure = spikes_figure(rows)
    assert [axes.get_title() for axes in figure.axes] == ["vgg16", "resnet34"]
    assert [len(axes.containers) for axes in figure.axes] == [2, 1]
    assert all(axes.get_ylabel() == "spikes per neuron" for axes in figure.axes)
    assert_readable(figure)


@pytest.mark.parametrize(("layers", "levels"), SIZES)
def test_activity_has_a_cell_per_layer_and_timestep(layers, levels):
    names = samples.layer_names(layers)
    lengths = [levels if place % 3 else levels // 2 for place in range(layers)]
    rows = [
        {"activation": name, "timestep": timestep, "firing": 0.5}
        for name, length in zip(names, lengths, strict=True)
        for timestep in range(1, length + 1)
    ]
    figure = activity_figure(rows)
    (mesh,) = [artist for artist in figure.axes[0].collections if isinstance(artist, QuadMesh)]
    assert mesh.get_array().shape == (layers, levels)
    assert np.ma.count(np.ma.masked_invalid(mesh.get_array())) == sum(lengths)
    assert np.nanmax(mesh.get_array()) == 50  # per cent
    assert_readable(figure)


@pytest.mark.parametrize(("epochs", "seeds", "change"), [(1, 1, None), (24, 1, None), (300, 20, 200)])
def test_training_curves_mark_the_change_of_levels(epochs, seeds, change):
    figure = training_figure(over(seeds, lambda seed: samples.train_rows(epochs, seed)), change)
    assert [axes.get_ylabel() for axes in figure.axes] == ["loss", "accuracy (%)", "learning rate", "threshold θ"]
    assert [len(axes.collections) for axes in figure.axes] == ([0] * 4 if seeds == 1 else [1, 2, 1, 2])  # bands
    marks = [line for axes in figure.axes for line in axes.lines if line.get_label() == "levels change"]
    assert [line.get_xdata()[0] for line in marks] == ([] if change is None else [change] * 4)
    assert_readable(figure)


def test_training_without_validation_images_has_one_accuracy_curve():
    rows = [{**row, "validation_accuracy": None} for row in samples.train_rows(5)]
    assert len(training_figure(rows).axes[1].lines) == 1


@pytest.mark.parametrize(
    ("draw", "rows", "column"),
    [
        (histogram_figure, [{"layer": "a", "level": 0}], "count"),
        (metric_figure, [{"layer": "a", "metric": 1.0}], "level"),
        (metric_threshold_figure, [{"moments": "levels", "layer": "a", "metric": 1.0}], "k"),
        (activity_figure, [{"activation": "a", "timestep": 1}], "firing"),
        (training_figure, [{"epoch": 1}], "loss"),
        (equivalence_figure, [{"neuron": "PASC", "ann_count": 1, "snn_count": 1}], "neurons"),
        (components_figure, [{"costs": "FP32"}], "network"),
        (pasc_figure, [{"phase": "emit"}], "timestep"),
        (hardware_sensitivity_figure, [{"parameter": "pes", "value": 16}], "ann_over_snn_compute"),
    ],
)
def test_a_missing_column_is_named(draw, rows, column):
    with pytest.raises(PascalError, match=f"column '{column}' is missing"):
        draw(rows)


def test_forty_runs_can_be_told_apart():
    kinds = [tuple(map(str, look.values())) for look in looks([str(place) for place in range(40)]).values()]
    assert len(set(kinds)) == 40


def test_small_helpers():
    assert energy_unit(2.5e6) == (1e6, "µJ")
    assert energy_unit(999) == (1.0, "pJ")
    assert shorten("layer1.0.act1") == "layer1.0.act1"
    assert shorten("backbone.stage4.block12.residual.act2", 12) == "…sidual.act2"
