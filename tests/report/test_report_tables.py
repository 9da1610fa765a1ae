"""Tables say what was measured, over how many seeds, what the paper reports, and what is missing."""

import math

import pandas as pd
import pytest

from pascal.errors import PascalError
from pascal.report.results import RunResults, gather, overview
from pascal.report.tables.accuracy import accuracy_table, al_table, timesteps_table
from pascal.report.tables.audit import audit_table, missing_table
from pascal.report.tables.energy import energy_networks_table, energy_table, overhead_table
from pascal.report.tables.hardware import hardware_ratio_table, hardware_table
from pascal.report.tables.layers import layer_overhead_table, operations_table
from pascal.report.tables.rivals import rivals, rivals_direct_training, rivals_qcfs_seenn
from tests.report.samples import AUDIT, run_results

RIVALS = {make.__name__: make for make in (rivals, rivals_direct_training, rivals_qcfs_seenn)}
LACKING = ("accuracy", "accuracy_vs_timesteps", "verify", "train", "workload", "energy", "energy_summary", "hardware")
NOTHING = RunResults("c10-none", 0, "cifar10", "vgg16", missing=LACKING)


def with_accuracy(seed, accuracy, run="c10-vgg-l4", **changes):
    return run_results(
        run, seed, accuracy={"ann_accuracy": accuracy, "snn_accuracy": accuracy, "images": 100}, **changes
    )


def row_of(table, run):
    return table[table.run == run].iloc[0]


def test_accuracy_is_mean_and_deviation_over_seeds_beside_the_papers():
    row = accuracy_table(overview([with_accuracy(0, 0.90), with_accuracy(1, 0.92)]), AUDIT).iloc[0]
    assert row.ann_accuracy_percent == pytest.approx(91.0)
    assert row.snn_accuracy_percent_std == pytest.approx(math.sqrt(2))
    assert (row.seeds, row.images) == (2, 100)
    assert (row.reported_ann_accuracy_percent, row.reported_snn_accuracy_percent) == ("95.66", "95.61")
    assert row.missing == ""


def test_one_seed_has_no_deviation():
    assert math.isnan(accuracy_table(overview([with_accuracy(0, 0.9)])).iloc[0].snn_accuracy_percent_std)


def test_the_certificate_counts_every_mismatch():
    broken = {"images": 100, "neurons": 10**9, "count_mismatches": 1, "prediction_mismatches": 0, "dtype": "float32"}
    table = accuracy_table(overview([run_results(seed=0), run_results("broken", verify=broken), NOTHING]))
    assert row_of(table, "c10-vgg-l4").certificate.startswith("exact: 0 of 2,846,720,000 neurons")
    assert row_of(table, "broken").certificate == "NOT EXACT: 1 of 1,000,000,000 neurons, 0 predictions differ"
    assert row_of(table, "c10-none").certificate == "not verified"


def test_a_failed_seed_is_named_and_does_not_count():
    failed = run_results(seed=2, accuracy=None, verify=None, problem="NaN loss in epoch 3")
    row = accuracy_table(overview([with_accuracy(0, 0.90), with_accuracy(1, 0.92), failed])).iloc[0]
    assert row.seeds == 2
    assert row.missing == "seed 2: accuracy, verify – NaN loss in epoch 3"
    assert row.certificate.endswith("1 of 3 seeds not verified")


def test_seeds_that_miss_the_same_are_named_together():
    runs = [run_results(seed=seed, verify=None) for seed in range(3)]
    assert accuracy_table(overview(runs)).iloc[0].missing == "all seeds: verify"


def test_a_run_without_any_result_keeps_its_row():
    table = accuracy_table(overview([NOTHING]))
    assert math.isnan(table.iloc[0].snn_accuracy_percent)
    assert table.iloc[0].missing == "seed 0: accuracy, verify"


def test_adaptive_runs_stand_beside_their_start_and_the_papers_assignment():
    runs = [with_accuracy(0, 0.90), run_results("c10-vgg-al", 0, adaptive=True)]
    table = al_table(overview(runs), AUDIT)
    assert table.run.tolist() == ["c10-vgg-al"]  # uniform runs are not adaptive
    row = table.iloc[0]
    assert (row.clusters, row["values"], row.start) == (3, "4 2 1", "c10-vgg-l4")
    assert sorted(set(row.levels.split())) == ["1", "2", "4"]
    assert len(row.levels.split()) == 15
    assert row.start_accuracy_percent == pytest.approx(90.0)
    assert (row.reported_t_eff, row.reported_snn_accuracy_percent) == ("2.13", "93.73")
    assert row.reported_levels == "2 1 2 1 2 1 1 1 1 1 4 4 2 4 4"


def test_seeds_that_cluster_differently_get_rows_of_their_own():
    runs = [run_results("al", seed, adaptive=True) for seed in range(2)]
    table = al_table(overview(runs))
    assert len(table) == 2
    assert table.seeds.tolist() == ["0", "1"]
    assert accuracy_table(overview(runs)).iloc[0].levels == "differ by seed"


def test_an_adaptive_run_that_failed_says_so():
    failed = run_results(
        "al", 0, adaptive=True, accuracy=None, levels=None, metric=None, workload=None, problem="disk full"
    )
    row = al_table(overview([failed])).iloc[0]
    assert row.seeds == ""
    assert row.missing == "seed 0: accuracy, levels, metric – disk full"


def test_timesteps_table_finds_where_plain_if_reaches_pasc():
    curve = [{"timesteps": t, "accuracy": share, "images": 60} for t, share in ((1, 0.5), (16, 0.9), (4, 0.8))]
    results = [
        with_accuracy(0, 0.99, run, accuracy_vs_timesteps=[{**row, "ann_accuracy": same} for row in curve])
        for run, same in (("a", 0.80), ("b", 0.95))  # on the images of the curve, not on all
    ]
    table = timesteps_table(overview([*results, NOTHING]), gather(results, "accuracy_vs_timesteps"))
    assert table.if_reaches_pasc_at.tolist() == ["4", "not by 16", ""]
    assert [name for name in table if name.startswith("if_t")] == ["if_t1_percent", "if_t4_percent", "if_t16_percent"]
    assert row_of(table, "a").if_t4_percent == pytest.approx(80.0)


def test_energy_table_has_a_row_per_arithmetic_beside_the_papers():
    table = energy_table(overview([run_results(), NOTHING]), AUDIT)
    assert table[["run", "costs"]].fillna("").to_numpy().tolist() == [
        ["c10-vgg-l4", "FP32"],
        ["c10-vgg-l4", "INT8"],
        ["c10-none", ""],
    ]
    assert table.ratio_paper[:2].tolist() == [7.49, 11.03]
    assert table.ratio_exact[:2].tolist() == [9.5, 14.1]
    assert table.reported_ratio.tolist() == ["7.49", "", ""]
    assert table.missing[2] == "seed 0: energy_summary"


def test_energy_of_networks_adds_layers_up():
    energy = [
        {"costs": "FP32", "network": network, "path": path, "memory_pj": 1e6, "total_pj": total}
        for network, total in (("SNN PASC", 2e6), ("ANN", 8e6))
        for path in ("conv1", "conv2")
    ]
    results = [run_results(energy=energy)]
    table = energy_networks_table(overview(results), gather(results, "energy"))
    assert table.total_uj.tolist() == [4.0, 16.0]
    assert table.memory_uj.tolist() == [2.0, 2.0]
    assert table.arithmetic_uj.tolist() == [2.0, 14.0]
    assert table.relative_to_pasc.tolist() == [1.0, 4.0]


def test_overhead_table_joins_formula_count_and_hardware():
    results = [run_results()]
    table = overhead_table(overview(results), gather(results, "hardware_comparison"), AUDIT).set_index("quantity")
    assert table.ratio["r_E, formula, SpikeRate 0.75"] == 1.016
    assert table.reported_ratio["r_E, formula, SpikeRate 0.75"] == "1.001"
    assert table.ratio["r_E, operations counted, INT8"] == 1.02
    assert table.reported_ratio["PASC / IF latency, blocking"] == "1.125"
    assert not any(quantity.startswith("ANN") for quantity in table.index)
    others = [run_results("r18", layers=17, level=8)]
    table = overhead_table(overview(others), gather(others, "hardware_comparison"), AUDIT)
    assert not table.reported_ratio.any()  # the paper has no such figure of ResNet-18


def test_hardware_table_has_per_image_and_per_test_set_numbers():
    results = [run_results()]
    table = hardware_table(overview(results), gather(results, "hardware"), AUDIT)
    row = table[(table.neuron == "pasc") & (table.overlap == "blocking")].iloc[0]
    assert row.energy_mj_per_10000 == pytest.approx(10 * row.energy_uj_per_image)
    assert row.neuron_energy_mj_per_10000 == pytest.approx(3.0, rel=0.03)  # 3e5 pJ per image, ± 2 %
    assert (row.reported_energy_mj_per_10000, row.reported_latency_s_per_10000) == ("446.02", "0.45")


def test_hardware_ratios_stand_beside_the_papers_only_for_its_network():
    results = [run_results(), run_results("r18", layers=17, level=8)]
    table = hardware_ratio_table(overview([*results, NOTHING]), gather(results, "hardware_comparison"), AUDIT)
    assert table.reported[:4].tolist() == ["1.0012", "1.125", "1.125", "8.3514"]
    assert not table.reported[4:].any()  # the paper simulated VGG-16 with L = 4
    assert table.masks[0] == "recorded"
    assert table.missing.iloc[-1] == "seed 0: hardware"


def test_operations_end_with_the_total_beside_the_papers():
    results = [run_results(seed=seed) for seed in range(2)]
    table = operations_table(overview(results), gather(results, "workload"), AUDIT)
    layers, total = table.iloc[:-1], table.iloc[-1]
    assert len(layers) == 16
    assert total.path == "total"
    assert total.macs == layers.macs.sum()
    assert total.reported_macs == 332_111_872  # the appendix' table of VGG-16
    assert total.synaptic_operations == pytest.approx(layers.synaptic_operations.sum())


def test_layer_overhead_keeps_both_kinds_of_ratio():
    results = [run_results()]
    table = layer_overhead_table(overview(results), gather(results, "ratios"))
    assert len(table) == 15
    assert set(table.energy_ratio) == {1.03}
    assert math.isnan(table.timesteps[0])  # pixels


def test_audit_table_keeps_digits_as_printed():
    table = audit_table(AUDIT)
    assert table.reported.tolist()[-1] == "0.45"
    with pytest.raises(PascalError, match="audit: column 'equation' is missing"):
        audit_table([{key: value for key, value in AUDIT[0].items() if key != "equation"}])


def test_missing_table_is_empty_when_all_is_there():
    assert missing_table(overview([run_results(), run_results("al", adaptive=True)])).empty
    table = missing_table(overview([run_results(), NOTHING, run_results("al", adaptive=True, metric=None)]))
    assert table.run.tolist() == ["c10-none", "al"]
    assert table.missing[1] == "metric"


def test_levels_follow_the_network_not_the_file():
    edited = {"b": 1, "a": 4}
    workload = [{"activation": name, "levels": level} for name, level in (("a", 4), ("b", 1), (None, None))]
    assert overview([run_results(levels=edited, workload=workload)]).levels[0] == "4 1"
    assert overview([run_results(levels=edited, workload=None)]).levels[0] == "1 4"


def test_a_percentage_in_accuracy_json_is_refused():
    with pytest.raises(PascalError, match=r"ann_accuracy is 93.1, expected a share"):
        overview([with_accuracy(0, 93.1)])


def test_tables_accept_rows_of_text():
    results = [run_results()]
    text = gather(results, "workload").astype(str).replace("nan", "").replace("None", "").to_dict("records")
    expected = operations_table(overview(results), gather(results, "workload"))
    pd.testing.assert_frame_equal(operations_table(overview(results), text), expected, check_dtype=False)


def test_rival_tables_hold_what_was_reported_and_what_was_measured():
    tables = {name: make([run_results(), run_results(seed=1)], AUDIT) for name, make in RIVALS.items()}
    reported = tables["rivals_qcfs_seenn"].set_index(["work", "dataset", "reported_network", "reported_timesteps"])
    here = reported.loc[("QCFS", "cifar10", "vgg16", "16")]
    assert list(here.answer) == ["T=1", "T=2", "T=4", "T=8"]
    assert set(here.network) == {"vgg16, width 1, L = 4"}
    assert set(here.pooling) == {"average"}
    assert list(reported.loc[[("SEENN-1", "imagenet", "resnet34", "29.53")]].run) == [""]
    assert (tables["rivals_direct_training"].run == "").all()
    every = tables["rivals"]
    assert list(every[every.label == "radix"].problem) == ["radix: 4 levels, expected 2ⁿ − 1"]
    assert "oracle" not in set(every.answer)
