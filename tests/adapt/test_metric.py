"""The metric against scipy, against histograms worked out by hand, and at its degenerate ends."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import pascal.adapt.metric as module
from pascal.adapt import MetricTerms, al_metric, layer_metrics, metric_terms
from pascal.errors import PascalError

HISTOGRAMS = st.lists(st.integers(0, 60), min_size=2, max_size=17).filter(lambda h: sum(h) >= 4)


@given(HISTOGRAMS)
def test_moments_of_levels_are_scipys(histogram):
    samples = np.repeat(np.arange(len(histogram)), histogram)
    assume(len(set(samples)) > 1)
    n = len(samples)
    terms = metric_terms(histogram, 0.05)
    assert terms.skewness == pytest.approx(stats.skew(samples) * ((n - 1) / n) ** 1.5, rel=1e-9, abs=1e-9)
    excess = 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))
    assert terms.kurtosis == pytest.approx(stats.kurtosis(samples, bias=False) + excess, rel=1e-9, abs=1e-9)


@given(st.lists(st.integers(0, 1000), min_size=4, max_size=17).filter(lambda h: len(set(h)) > 1))
def test_moments_of_frequencies_are_scipys(histogram):
    n = len(histogram)
    terms = metric_terms(histogram, 0.05, moments="frequencies")
    assert terms.skewness == pytest.approx(stats.skew(histogram) * ((n - 1) / n) ** 1.5, rel=1e-9, abs=1e-9)
    assert terms.kurtosis == pytest.approx(
        stats.kurtosis(histogram) + 3 * n * n / ((n - 2) * (n - 3)), rel=1e-9, abs=1e-9
    )


def test_a_histogram_by_hand():
    """Samples 0, 0, 0, 1: mean 1/4, Σd² = 3/4, Σd³ = 3/8, Σd⁴ = 21/64; k₂ = 1/4."""
    terms = metric_terms([3, 1], empty_below=0.3)
    assert terms.agreement == 1.0  # one bin of two holds at least 30 %
    assert terms.skewness == pytest.approx((3 / 8 / 4) / (1 / 4) ** 1.5)  # = 0.75
    assert terms.kurtosis == pytest.approx(20 / 6 * (21 / 64) / (1 / 4) ** 2)  # = 17.5
    assert terms.metric == pytest.approx(1.0 * (0.75**2 + 1) * 17.5) == al_metric([3, 1], 0.3)


@given(HISTOGRAMS, st.integers(1, 10**6))
def test_symmetry_kills_the_skewness(histogram, scale):
    mirrored = np.array([*histogram, *histogram[::-1]]) * scale
    assert metric_terms(mirrored, 0.1).skewness == 0


def test_huge_counts_lose_nothing():
    """3,000 ImageNet images leave 10¹⁰ neurons in a layer: the sums must be exact there too."""
    few, many = [70, 20, 6, 3, 1], [n * 10**10 for n in (70, 20, 6, 3, 1)]
    x = np.repeat(np.arange(5), few).astype(float)
    population = ((x - x.mean()) ** 4).mean() / x.var() ** 2
    assert metric_terms(many, 0.1).kurtosis == pytest.approx(population, rel=1e-9)
    assert module.central_sum(range(5), few, 1) == 0


@pytest.mark.parametrize(
    ("histogram", "alpha", "expected"),
    [
        ([100, 0, 0, 0, 0], 0.1, 1.0),
        ([90, 10, 0, 0, 0], 0.1, 0.75),  # exactly a tenth is enough: at least α of the total
        ([91, 9, 0, 0, 0], 0.1, 1.0),
        ([20, 20, 20, 20, 20], 0.2, 0.0),
        ([20, 20, 20, 20, 20], 0.5, 1.0),  # none reaches α: the fullest counts all the same
        ([29, 1], 1 / 30, 0.0),
    ],
)
def test_agreement_by_hand(histogram, alpha, expected):
    assert metric_terms(histogram, alpha).agreement == expected


@given(HISTOGRAMS, st.floats(0.001, 0.999))
def test_agreement_lies_between_0_and_1_and_grows_with_alpha(histogram, alpha):
    values = [module.agreement(histogram, a) for a in (alpha / 2, alpha)]
    assert 0 <= values[0] <= values[1] <= 1


def test_a_constant_layer_has_no_moments():
    terms = metric_terms([0, 0, 50, 0, 0], 0.1)
    assert terms.agreement == 1
    assert math.isnan(terms.skewness)
    assert math.isnan(terms.metric)


def test_equal_frequencies_have_no_peak():
    assert metric_terms([7, 7, 7, 7, 7], 0.1, "frequencies") == MetricTerms(0.0, 0.0, 0.0)
    assert al_metric([7, 7, 7, 7, 7], 0.3, "frequencies") == 0


def test_alpha_follows_layers_or_bins():
    histograms = {"a": [80, 10, 6, 3, 1], "b": [50, 50], "c": [10, 20, 30], "d": [1, 2, 3, 4]}
    by_layers = layer_metrics(histograms, k=0.5)
    by_bins = layer_metrics(histograms, k=0.5, over="bins")
    assert {layer: terms.agreement for layer, terms in by_layers.items()} == {
        layer: module.agreement(histogram, Fraction(1, 8)) for layer, histogram in histograms.items()
    }
    assert by_bins["a"].agreement == module.agreement(histograms["a"], Fraction(1, 10))
    assert by_bins["a"].agreement != by_layers["a"].agreement


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 0.1), "whole numbers"),
        (([5], 0.1), "whole numbers"),
        (([0.5, 0.5], 0.1), "whole numbers"),
        (([[1, 2], [3, 4]], 0.1), "whole numbers"),
        (([3, -1, 9], 0.1), "counts >= 0"),
        (([0, 0, 0], 0.1), "not all zero"),
        (([2, 1], 0.1), "3 samples"),
        (([2, 8], 0.0), "empty_below: got 0.0"),
        (([2, 8], 1.0), "empty_below: got 1.0"),
        (([2, 8], math.nan), "empty_below"),
        (([2, 8, 9], 0.1, "frequencies"), "has 3 bins"),
        (([2, 8, 9, 9], 0.1, "bins"), "moments: got 'bins'"),
    ],
)
def test_bad_histograms_are_named(arguments, message):
    with pytest.raises(PascalError, match=message):
        al_metric(*arguments)


def test_the_layer_is_named():
    with pytest.raises(PascalError, match=r"moments: got 'frequencies', .*features.3 has 2 bins"):
        layer_metrics({"features.3": [5, 5]}, moments="frequencies")
    with pytest.raises(PascalError, match="over: got 'images'"):
        layer_metrics({"features.3": [5, 5]}, over="images")


@pytest.mark.parametrize(
    ("k", "over", "message"),
    [
        (2, "layers", "k: got 2, expected more than 0 and less than the 2 layers"),
        (2, "bins", "k: got 2, expected more than 0 and less than the 2 bins of b"),
        (0, "layers", "k: got 0, expected more than 0"),
        (math.nan, "bins", "k: got nan"),
    ],
)
def test_a_bad_k_is_named(k, over, message):
    with pytest.raises(PascalError, match=message):
        layer_metrics({"a": [5, 5, 5], "b": [5, 5]}, k, over)


def test_every_reading_that_the_histograms_allow():
    fine, coarse = {"a": [40, 2, 3, 4], "b": [1, 20, 3, 40]}, {"a": [40, 2, 3, 4], "b": [1, 20, 3]}
    rows = module.metric_readings(fine)
    assert [(row["moments"], row["k"]) for row in rows if row["layer"] == "b"] == [
        (moments, k) for moments in ("levels", "frequencies") for k in (1.0, 0.75, 0.5)
    ]
    assert all(row["metric"] == al_metric(fine[row["layer"]], row["k"] / 2, row["moments"]) for row in rows)
    assert {row["moments"] for row in module.metric_readings(coarse)} == {"levels"}
    assert [row["k"] for row in module.metric_readings({"a": [40, 2, 3]})] == [0.75, 0.5]
