"""Clustering against brute force over all partitions; `levels.json` read back, edited and broken."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pascal.adapt import assign_levels, read_levels, reorder_levels, write_levels
from pascal.errors import PascalError

METRICS = st.lists(st.integers(0, 60).map(lambda n: n / 4), min_size=1, max_size=8)


def named(metrics):
    return {f"layer{index}": metric for index, metric in enumerate(metrics)}


def spread(group) -> Fraction:
    mean = Fraction(sum(map(Fraction, group))) / len(group)
    return sum((Fraction(value) - mean) ** 2 for value in group)


def least_spread(metrics, clusters) -> Fraction:
    ordered = sorted(metrics)
    cuts = combinations(range(1, len(ordered)), clusters - 1)
    edges = ([0, *cut, len(ordered)] for cut in cuts)
    return min(sum(spread(ordered[a:b]) for a, b in pairwise(edge)) for edge in edges)


@given(METRICS, st.sets(st.integers(1, 32), min_size=1, max_size=5).map(list))
def test_clusters_are_the_best_there_are(metrics, values):
    levels = assign_levels(named(metrics), values)
    groups = {}
    for metric, level in zip(metrics, levels.values(), strict=True):
        groups.setdefault(level, []).append(metric)
    clusters = min(len(values), len(set(metrics)))
    assert len(groups) == clusters
    assert sum(spread(group) for group in groups.values()) == least_spread(metrics, clusters)


@given(METRICS, st.sets(st.integers(1, 32), min_size=1, max_size=5).map(list), st.randoms())
def test_order_of_levels_is_the_reverse_of_the_metrics(metrics, values, random):
    levels = assign_levels(named(metrics), values)
    pairs = sorted(zip(metrics, levels.values(), strict=True))
    for (lower, its_level), (higher, other_level) in pairwise(pairs):
        assert its_level >= other_level
        assert lower != higher or its_level == other_level
    assert pairs[-1][1] == min(values)
    if len(set(metrics)) >= 2 and len(values) >= 2:
        assert pairs[0][1] == max(values)
    shuffled = list(named(metrics).items())
    random.shuffle(shuffled)
    assert assign_levels(dict(shuffled), random.sample(values, len(values))) == levels


@given(METRICS, st.sets(st.integers(1, 32), min_size=1, max_size=5).map(list), st.integers(0, 9))
def test_controls_keep_the_multiset_of_levels(metrics, values, seed):
    metrics = named(metrics) | {"constant": math.nan}
    levels = assign_levels(metrics, values)
    assert reorder_levels(metrics, levels, "metric") == levels
    for order in ("reversed", "random"):
        control = reorder_levels(metrics, levels, order, seed)
        assert list(control) == list(levels)
        assert sorted(control.values()) == sorted(levels.values())
        assert control == reorder_levels(metrics, levels, order, seed)


def test_controls_by_hand():
    metrics, levels = {"a": 3.0, "b": 1.0, "c": 2.0, "d": math.nan}, {"a": 2, "b": 8, "c": 4, "d": 1}
    assert reorder_levels(metrics, levels, "reversed") == {"a": 4, "b": 1, "c": 2, "d": 8}
    assert len({tuple(reorder_levels(metrics, levels, "random", seed).values()) for seed in range(40)}) > 10
    with pytest.raises(PascalError, match="order: got 'worst'"):
        reorder_levels(metrics, levels, "worst")


def test_three_clusters_by_hand():
    metrics = {"stem": 0.9, "a": 40.0, "b": 5.0, "c": 42.0, "d": 6.0, "e": 1.1}
    assert assign_levels(metrics, values=[4, 2, 1]) == {"stem": 4, "a": 1, "b": 2, "c": 1, "d": 2, "e": 4}


def test_constant_layers_get_the_smallest_level_and_stay_out():
    metrics = {"a": 1.0, "dead": math.nan, "b": 9.0, "c": 9.5}
    assert assign_levels(metrics, [8, 2]) == {"a": 8, "dead": 2, "b": 2, "c": 2}
    assert assign_levels({"x": math.nan, "y": math.nan}, [8, 2]) == {"x": 2, "y": 2}


def test_fewer_distinct_metrics_than_values():
    assert assign_levels({"a": 3.0, "b": 3.0, "c": 7.0}, [8, 4, 2, 1]) == {"a": 8, "b": 8, "c": 1}
    assert assign_levels({"a": 3.0, "b": 3.0}, [4, 2, 1]) == {"a": 1, "b": 1}
    assert assign_levels({}, [4, 2]) == {}


@pytest.mark.parametrize("values", [[], [4, 4], [0, 1], [2.0, 1], [True, 2], [-1]])
def test_bad_values_are_named(values):
    with pytest.raises(PascalError, match="values"):
        assign_levels({"a": 1.0}, values)


def test_infinite_metrics_are_named():
    with pytest.raises(PascalError, match=r"infinite ones for \['b'\]"):
        assign_levels({"a": 1.0, "b": math.inf}, [2, 1])


def test_levels_file_round_trips_in_forward_order(tmp_path):
    path = tmp_path / "levels.json"
    levels = {"features.3": 4, "features.10": 1, "act": 2}
    write_levels(path, levels)
    assert list(read_levels(path, levels).items()) == list(levels.items())
    assert path.read_text().splitlines()[1] == '  "features.3": 4,'
    assert [file.name for file in tmp_path.iterdir()] == ["levels.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}', r"disagree on \['b'\]"),
        ('{"a": 1, "b": 2, "c": 3}', r"disagree on \['c'\]"),
        ('{"a": 1, "b": 2, "b": 3}', r"\['b'\] named twice"),
        ('{"a": 1, "b": 0}', "levels.json: b: got 0"),
        ('{"a": 1, "b": 2.5}', "levels.json: b: got 2.5"),
        (f'{{"a": 1, "b": {10**30}}}', f"levels.json: b: got {10**30}, expected .* at most 8388608"),
        ('{"a": 1, "b": true}', "levels.json: b: got True"),
        ('{"a": 1, "b": "4"}', "levels.json: b: got '4'"),
        ('{"a": 1,', "levels.json: .*expected JSON"),
        ("[1, 2]", "expected an object"),
    ],
)
def test_a_badly_edited_file_is_named(tmp_path, text, message):
    path = tmp_path / "levels.json"
    path.write_text(text)
    with pytest.raises(PascalError, match=message):
        read_levels(path, ["a", "b"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(PascalError, match=r"levels.json: .*No such file"):
        read_levels(tmp_path / "levels.json", ["a"])
