"""`simulate`: totals of a known network, invariants of the model, recorded and random masks, refusals."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.networks import vgg16_workloads
from pascal.errors import PascalError
from pascal.hardware import Trace, layer_trace, network_trace, simulate
from pascal.hardware.simulate import make_variant, simulate_variants
from pascal.hardware.sources import make_source
from pascal.workload import LayerWorkload
from tests.hardware.shapes import small_trace


def test_vgg16_has_the_known_totals() -> None:
    run = simulate(vgg16_workloads(0.25), "sparten", "qcfs")
    assert run.mean("dense_mac") == 332_111_872  # the paper's appendix
    assert run.mean("qcfs") == 284_672  # neurons
    assert run.mean("bitmask_load") == 2 * 2_695_488  # neuron-chunks of 128


def test_loas_and_sparten_see_the_same_matches() -> None:
    trace = small_trace(images=3)
    loas, sparten = simulate(trace), simulate(trace, "sparten", "qcfs")
    assert np.array_equal(loas.of_image("match"), sparten.of_image("match"))
    assert loas.of_image("match").min() > 0


def test_corrections_and_spikes_share_the_timesteps_of_the_matches() -> None:
    dense = [replace(layer, weights=np.ones_like(layer.weights, bool)) for layer in small_trace().layers]
    run = simulate(Trace(tuple(dense), "pasc", 2))
    for row in list(run.layer_rows())[1:]:  # without the pixels
        assert row["correction_add"] + row["spike_add"] == 4 * row["match"] > 0


def test_density_and_pes_bound_the_cycles() -> None:
    runs = [simulate(vgg16_small(density), seed=1) for density in (0.1, 0.3, 0.6)]
    matches = [run.mean("match") for run in runs]
    assert matches == sorted(set(matches))
    for run in runs:
        assert run.cycles.mean() >= run.mean("match") / run.accelerator.pes
        summary = run.summary()
        assert 0 < summary["utilisation"] <= 1
        assert summary["imbalance"] == pytest.approx(1 - summary["utilisation"])
        assert summary["cycles"] == run.cycles.mean()


def vgg16_small(density: float) -> list[LayerWorkload]:
    return vgg16_workloads(density)[5:8]


def test_the_order_of_k_moves_imbalance_but_not_matches() -> None:
    trace = small_trace()
    block = {"chunk": 16, "schedule": "barrier"}
    first, second = (simulate(trace, preset={**block, "k_order": order}) for order in ("cmajor", "pixmajor"))
    assert first.mean("match") == second.mean("match")
    assert first.mean("compute_cycles") != second.mean("compute_cycles")


def test_a_pipelined_neuron_hides_behind_the_next_join() -> None:
    trace = small_trace()
    blocking, pipelined = (simulate(trace, preset={"overlap": overlap}) for overlap in ("blocking", "pipelined"))
    assert pipelined.cycles.mean() < blocking.cycles.mean()
    assert pipelined.mean("busy_cycles") == blocking.mean("busy_cycles")


def test_more_timesteps_than_the_pe_holds_stream_the_matches_again() -> None:
    trace = small_trace()
    whole, halves = (simulate(trace, preset={"timesteps": held, "first_layer": "skip"}) for held in (4, 2))
    assert halves.mean("match") == 2 * whole.mean("match")
    assert halves.mean("correction_add") == whole.mean("correction_add")


def test_the_first_layer_can_be_left_out() -> None:
    trace = small_trace()
    whole, rest = simulate(trace), simulate(trace, preset={"first_layer": "skip"})
    assert [row["path"] for row in rest.layer_rows()] == [row["path"] for row in whole.layer_rows()][1:]
    assert rest.mean("multiply") == 0 < whole.mean("multiply")


def test_images_are_independent_of_workers_and_of_each_other() -> None:
    trace = small_trace(images=5)
    alone, together = simulate(trace), simulate(trace, workers=2, progress=False)
    assert np.array_equal(alone.values, together.values)
    assert np.array_equal(simulate(trace, images=2).values, alone.values[:2])


def test_machines_simulated_together_are_as_if_alone() -> None:
    trace = small_trace()
    variants = [make_variant("loas", "pasc", {"chunk": chunk}) for chunk in (16, 128)]
    variants.append(make_variant("sparten", "qcfs"))
    together = simulate_variants(make_source(trace), variants)
    for variant, run in zip(variants, together, strict=True):
        assert np.array_equal(run.values, simulate_variants(make_source(trace), [variant])[0].values)


def test_random_masks_have_the_recorded_densities_and_say_so() -> None:
    (workload,) = vgg16_workloads(0.3, mean_count=2.5)[9:10]
    run = simulate([workload], weight_density=0.4, seed=3)
    assert run.mean("match") == pytest.approx(0.3 * 0.4 * workload.macs, rel=0.01)
    assert run.mean("spike_add") == pytest.approx(0.3 * 2.5 * workload.macs, rel=0.01)
    assert run.summary()["masks"] == "synthetic Bernoulli"
    assert np.array_equal(run.values, simulate([workload], weight_density=0.4, seed=3).values)
    assert not np.array_equal(run.values, simulate([workload], weight_density=0.4, seed=4).values)


def test_results_are_json_with_their_conditions() -> None:
    record = json.loads(json.dumps(simulate(small_trace()).to_json()))
    summary = record["summary"]
    conditions = {"preset": "pascal40", "pes": 16, "memory": True, "masks": "recorded images", "images": 2}
    assert conditions.items() <= summary.items()
    assert 0 < summary["joint_density"] < 1
    assert summary["energy_mj_per_10000"] == pytest.approx(10 * summary["energy_uj_per_image"])
    components = sum(summary[f"{part}_pj"] for part in ("pe", "neuron", "sram", "static", "dram"))
    assert components == pytest.approx(summary["energy_uj_per_image"] * 1e6)
    assert summary["energy_uj_per_image_without_dram"] * 1e6 == pytest.approx(components - summary["dram_pj"])
    assert summary["energy_uj_low"] <= summary["energy_uj_per_image"] <= summary["energy_uj_high"]
    assert summary["latency_ms_low"] <= summary["latency_ms_per_image"] <= summary["latency_ms_high"]
    assert len(record["layers"]) == 4


def test_a_grouped_convolution_costs_its_own_columns_only() -> None:
    rng = np.random.default_rng(0)
    shape = ("conv", (6, 4, 4), (6, 4, 4), (3, 3), (1, 1), (1, 1), (1, 1))
    depthwise = LayerWorkload("dw", *shape, 6, fan_in=9, producer_levels=4, levels=4, neurons=96)  # type: ignore[arg-type]
    spikes = rng.integers(1, 5, (1, 6, 4, 4)).astype(np.uint8)
    trace = network_trace([layer_trace(depthwise, np.ones((6, 1, 3, 3), bool), spikes, [96])])
    for machine, neuron in (("loas", "pasc"), ("sparten", "qcfs")):
        assert (
            simulate(trace, machine, neuron).mean("match") == 6 * 100
        )  # Σ over 16 pixels of the kernel inside the map


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"accelerator": "loas", "neuron": "qcfs"}, ["loas", "qcfs", "sparten with qcfs"]),
        ({"accelerator": "sparten", "neuron": "pasc"}, ["sparten", "pasc"]),
        ({"accelerator": "eyeriss"}, ["eyeriss"]),
        ({"neuron": "if"}, ["'if'", "'pasc'", "trace"]),
        ({"preset": "pascal99"}, ["pascal99"]),
        ({"preset": {"pes": 0}}, ["pes"]),
        ({"images": 0}, ["images", "0"]),
        ({"images": 3}, ["images", "3", "2"]),
        ({"workers": 0}, ["workers", "0"]),
        ({"preset": {"pasc_unit": "early"}}, ["pasc_unit", "early", "serial", "flat"]),
    ],
)
def test_what_cannot_be_simulated_is_refused(arguments: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(PascalError) as error:
        simulate(small_trace(), **arguments)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize(
    ("workloads", "arguments", "words"),
    [
        ([], {}, ["no layers"]),
        ("vgg16", {}, ["'v'", "pascal.measure", "load_trace"]),
        (3, {}, ["3", "pascal.measure"]),
        (vgg16_workloads()[5:6], {"weight_density": 1.5}, ["weight_density", "1.5"]),
        (vgg16_workloads()[5:6], {"images": 0}, ["images", "0"]),
        ([replace(vgg16_workloads()[5], nonzero_macs=None)], {}, ["layer5", "nonzero_macs"]),
    ],
)
def test_workloads_without_densities_are_refused(workloads: Any, arguments: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(PascalError) as error:
        simulate(workloads, **arguments)
    assert all(word in str(error.value) for word in words)
