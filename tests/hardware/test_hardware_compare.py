"""The comparison and sensitivity tables, bootstrap intervals and pruning."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.networks import vgg16_workloads
from pascal.errors import PascalError
from pascal.hardware import (
    compare_machines,
    mean_interval,
    prune_trace,
    prune_weights,
    ratio_interval,
    sensitivity,
    simulate,
)
from tests.hardware.shapes import small_trace


def test_the_comparison_stands_beside_the_reported_figures() -> None:
    rows, runs = compare_machines(small_trace(images=6), small_trace(images=6, words=True))
    table = {row["quantity"]: row for row in rows}
    reported = {name.split(",")[0]: row["reported"] for name, row in table.items()}
    assert reported == {  # the paper's appendix: 446.02/445.47, 0.45/0.40, 3724.865/445.47, 3724.865/446.02
        "PASC / IF energy": 1.0012,
        "PASC / IF latency": 1.125,
        "ANN / SNN (IF) energy": 8.3617,
        "ANN / SNN (PASC) energy": 8.3513,
    }
    latency = table["PASC / IF latency, blocking"]
    assert latency["measured"] == runs["pasc blocking"].cycles.sum() / runs["if blocking"].cycles.sum()
    assert latency["low"] <= latency["measured"] <= latency["high"]
    assert latency["measured"] > table["PASC / IF latency, pipelined"]["measured"]
    for row in rows:
        assert {"preset", "pes", "memory", "joint_density", "masks", "images"} <= row.keys()


def test_workloads_serve_both_neurons_with_the_same_masks() -> None:
    _, runs = compare_machines(vgg16_workloads(0.25)[10:12], weight_density=0.3)
    assert runs["pasc blocking"].mean("match") == runs["if blocking"].mean("match") == runs["ann"].mean("match")


def test_h1_gives_the_reported_ratio_only_because_its_prices_do() -> None:
    rows, _ = compare_machines(vgg16_workloads(0.25)[5:8], preset="h1", weight_density=0.25)
    (row,) = [row for row in rows if row["quantity"] == "ANN / SNN (IF) energy, PEs and neurons"]
    assert row["measured"] == pytest.approx(19.66 / 2.351, rel=0.01)
    assert "no reproduction" in row["note"]


def test_a_trace_needs_its_plain_counterpart() -> None:
    with pytest.raises(PascalError, match="plain"):
        compare_machines(small_trace())


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        (small_trace(images=3, words=True), ["3 images", "2"]),
        (replace(small_trace(words=True), layers=small_trace(words=True).layers[1:]), ["disagree", "stem"]),
        (small_trace(), ["'if'", "'pasc'"]),
        (vgg16_workloads(), ["plain"]),
    ],
)
def test_traces_of_other_networks_images_or_neurons_are_refused(plain: Any, words: list[str]) -> None:
    with pytest.raises(PascalError) as error:
        compare_machines(small_trace(), plain)
    assert all(word in str(error.value) for word in words)


def test_a_block_without_a_name_is_called_after_its_base() -> None:
    rows, _ = compare_machines(vgg16_workloads()[11:12], preset={"pes": 8})
    assert {row["preset"] for row in rows} == {"pascal40, modified"}


def test_intervals_cover_and_are_reproducible() -> None:
    rng = np.random.default_rng(0)
    below = rng.normal(10, 1, 200)
    above = 2 * below + rng.normal(0, 0.5, 200)
    low, high = ratio_interval(above, below, seed=1)
    assert low is not None
    assert high is not None
    assert low < 2 < high < low + 0.1
    assert (low, high) == ratio_interval(above, below, seed=1)
    assert mean_interval(np.array([3.0]), seed=0) == (None, None)


def test_sensitivity_moves_one_assumption_at_a_time() -> None:
    rows = sensitivity(small_trace(), weight_densities=(1.0, 0.1))
    table = {(row["parameter"], row["value"]): row for row in rows}
    assert {name for name, _ in table} >= {"dram_bit_pj", "cell", "act_bits", "profile", "pes", "weight_density"}
    base = table["dram_bit_pj", 3.9]
    assert table["dram_bit_pj", 40.0]["ann_over_snn_on_chip"] == base["ann_over_snn_on_chip"]
    assert table["dram_bit_pj", 40.0]["snn_uj_per_image"] > base["snn_uj_per_image"]
    assert table["act_bits", 3]["ann_uj_per_image"] < base["ann_uj_per_image"]
    assert table["act_bits", 3]["snn_uj_per_image"] == base["snn_uj_per_image"]
    assert table["weight_density", 0.1]["joint_density"] < base["joint_density"]
    assert table["pes", 1024]["snn_ms_per_image"] < base["snn_ms_per_image"]
    for default in (("cell", "lop"), ("act_bits", 8), ("profile", "nf"), ("pes", 16), ("weight_density", 1.0)):
        assert {**table[default], "parameter": "", "value": ""} == {**base, "parameter": "", "value": ""}


def test_sensitivity_of_random_masks_draws_them_at_each_density() -> None:
    rows = sensitivity(vgg16_workloads(0.25)[11:12], variations={"cell": ("lop",)}, weight_densities=(1.0, 0.2))
    assert [row["joint_density"] for row in rows] == pytest.approx([0.25, 0.25, 0.05], rel=0.02)


def test_pruning_keeps_the_largest_magnitudes() -> None:
    weights = np.array([[-128, 3, -3], [100, 0, 3]], np.int8)
    assert prune_weights(weights, 0.5).tolist() == [[-128, 3, 0], [100, 0, 0]]
    assert prune_weights(weights, 1.0).tolist() == weights.tolist()
    assert not prune_weights(weights, 0.0).any()
    equal = np.ones(1000, np.int8)
    assert np.flatnonzero(prune_weights(equal, 0.3)).tolist() == list(range(300))  # the first of equals
    floats = np.random.default_rng(0).normal(size=(20, 30))
    kept = prune_weights(floats, 0.25)
    assert np.count_nonzero(kept) == 150
    assert np.abs(kept[kept != 0]).min() >= np.abs(floats[kept == 0]).max()


def test_pruned_traces_match_less_and_refuse_masks_and_bad_densities() -> None:
    trace = small_trace()
    assert simulate(prune_trace(trace, 0.2)).mean("match") < simulate(trace).mean("match")
    with pytest.raises(PascalError, match="density"):
        prune_trace(trace, 1.2)
    masks = [layer.__class__(**{**vars(layer), "weights": layer.weights != 0}) for layer in trace.layers]
    with pytest.raises(PascalError, match=r"stem.*masks"):
        prune_trace(trace.__class__(tuple(masks), "pasc", 2), 0.5)
