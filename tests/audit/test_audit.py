"""Golden numbers of the paper: those that agree to the printed digit, and what the equations give for the others."""

import json

import pytest

from pascal.audit import AUDIT_NETWORKS, Measured, audit, audit_rows, measured_hardware, measured_records
from pascal.audit.audit import in_print
from pascal.errors import PascalError

# Every row that must agree in print: (quantity, network, dataset, levels) → printed. Sources: the paper's energy
# table and Section 4.2, the appendix' layer and cost tables, the lengths of the lists of levels.
MATCH = {
    ("MACs", "vgg16", "cifar10", ()): "332111872",
    ("MACs", "vgg16", "cifar100", ()): "332480512",
    ("MACs", "vgg16", "imagenet", ()): "15470264320",
    ("QCFS layers", "vgg16", "cifar10", ()): "15",
    ("QCFS layers", "resnet18", "cifar10", ()): "17",
    ("QCFS layers", "resnet34", "imagenet", ()): "33",
    ("Energy_ANN/Energy_SNN FP32", "vgg16", "cifar10", (4,)): "7.49",
    ("Energy_ANN/Energy_SNN FP32", "vgg16", "cifar100", (4,)): "7.96",
    ("Energy_ANN/Energy_SNN FP32", "vgg16", "imagenet", (16,)): "6.76",
    ("Energy_ANN/Energy_SNN FP32", "resnet18", "cifar10", (8,)): "5.72",
    ("Energy_ANN/Energy_SNN FP32", "resnet18", "cifar100", (8,)): "5.42",
    ("Energy_ANN/Energy_SNN INT8", "vgg16", "cifar10", (4,)): "11.03",
    ("Energy_ANN/Energy_SNN INT8", "vgg16", "cifar100", (4,)): "11.70",
    ("Energy_ANN/Energy_SNN INT8", "vgg16", "imagenet", (16,)): "9.94",
    ("Energy_ANN/Energy_SNN INT8", "resnet18", "cifar10", (8,)): "8.38",
    ("Energy_ANN/Energy_SNN INT8", "resnet18", "cifar100", (8,)): "7.95",
    ("FP32 add pJ", "", "", ()): "0.9",
    ("FP32 mul pJ", "", "", ()): "3.7",
    ("FP32 MAC pJ", "", "", ()): "4.6",
    ("INT8 add pJ", "", "", ()): "0.03",
    ("INT8 mul pJ", "", "", ()): "0.2",
    ("INT8 MAC pJ", "", "", ()): "0.23",
    ("PASC resets per neuron", "", "", (4,)): "11",
    ("PASC counter updates per neuron", "", "", (4,)): "7",
    ("PASC operations per neuron", "", "", (4,)): "18",
    ("IF operations per neuron", "", "", (4,)): "4",
}

# (quantity, network, dataset, printed) → the equation's value, agreement. Recomputed by hand from the layer shapes.
PRINT_BOTH = {
    ("T_norm", "vgg16", "cifar10", "4.21"): (4.202, False),
    ("T_norm", "vgg16", "cifar10", "8.79"): (8.773, False),
    ("T_norm", "vgg16", "imagenet", "18.37"): (18.504, False),
    ("T_norm", "resnet18", "cifar10", "8.22"): (8.770, False),
    ("T_norm", "resnet34", "imagenet", "8.17"): (8.305, False),
    ("T_norm", "resnet34", "imagenet", "16.67"): (17.231, False),
    ("T_eff", "vgg16", "cifar10", "2.13"): (2.119, False),
    ("T_eff", "vgg16", "cifar100", "4.54"): (4.509, False),
    ("T_eff", "vgg16", "imagenet", "9.92"): (9.924, True),
    ("T_eff", "vgg16", "imagenet", "12.40"): (12.403, True),
    ("T_eff", "resnet18", "cifar10", "3.14"): (2.587, False),
    ("T_eff", "resnet18", "cifar100", "2.63"): (2.516, False),
    ("T_eff", "resnet34", "imagenet", "12.94"): (12.502, False),
    ("MACs", "resnet18", "cifar10", "217584640"): (555_422_720, False),
    ("MACs", "resnet18", "cifar100", "217630720"): (555_468_800, False),
    ("layer-1 share", "resnet18", "cifar10", "0.008"): (0.0032, False),
    ("layer-1 share", "resnet18", "cifar100", "0.008"): (0.0032, False),
    ("network r_E", "vgg16", "cifar10", "1.001"): (1.016, False),
    ("QCFS accuracy % at T=16", "vgg16", "cifar10", "93.95"): (95.40, False),
    ("QCFS accuracy % at T=16", "vgg16", "cifar100", "72.80"): (76.24, False),
    ("fewer timesteps ×", "resnet34", "imagenet", "56"): (1024 / 18.37, False),
    ("QCFS layers", "resnet34", "imagenet", "17"): (33, False),
    ("largest count after phase 2", "", "", "7"): (15, False),
    ("T_norm of 74.31 %", "resnet34", "imagenet", "16.67"): (8.305, False),
    ("ratios averaged", "vgg16", "cifar10", "16"): (15, False),
    ("ratios averaged", "vgg16", "imagenet", "16"): (15, False),
    ("ratios averaged", "resnet18", "cifar10", "10"): (17, False),
    ("ratios averaged", "resnet34", "imagenet", "18"): (33, False),
}


@pytest.fixture(scope="module")
def rows(networks):
    return audit(networks)


@pytest.mark.parametrize(("wanted", "printed"), MATCH.items(), ids=str)
def test_number_agrees_to_the_printed_digit(rows, wanted, printed):
    (row,) = [row for row in rows if _key(row.claim) == wanted]
    assert row.claim.printed == printed
    assert in_print(row.equation, printed)
    assert row.agrees is True


@pytest.mark.parametrize(("wanted", "expected"), PRINT_BOTH.items(), ids=str)
def test_equation_stands_beside_the_reported_number(rows, wanted, expected):
    found = [row for row in rows if (*_key(row.claim)[:3], row.claim.printed) == wanted]
    value, agrees = expected
    assert len(found) == 1
    assert found[0].equation == pytest.approx(value, abs=min(0.001, value / 50))
    assert found[0].agrees is agrees
    assert agrees or found[0].claim.reason


def test_authors_lists_reproduce_the_reported_timesteps(rows):
    explained = [row for row in rows if row.claim.quantity in ("T_norm", "T_eff")]
    differing = [row for row in explained if not in_print(row.authors_list, row.claim.printed)]
    assert len(explained) == 13
    assert [(row.claim.printed, f"{row.authors_list:.3f}") for row in differing] == [("8.79", "8.796")]  # cut off


def test_latency_of_layers_in_sequence_stands_beside_the_mean(rows):
    (row,) = [row for row in rows if row.claim.printed == "4.21"]
    assert row.latency_timesteps == 102  # L_1 + 14 · (2L − 1) at L = 4


def test_accuracies_are_open_until_a_run_exists(networks):
    runs = [Measured("SNN accuracy %", "vgg16", "cifar10", (4,) * 15, value) for value in (95.5, 95.8)]
    runs.append(Measured("SNN accuracy %", "vgg16", "cifar100", (4,) * 15, 60.0))
    rows = {_key(row.claim): row for row in audit(networks, runs)}
    near, far = rows["SNN accuracy %", "vgg16", "cifar10", (4,)], rows["SNN accuracy %", "vgg16", "cifar100", (4,)]
    untouched = rows["ANN accuracy %", "vgg16", "cifar10", (4,)]
    assert (near.measured, near.agrees) == ((95.5, 95.8), True)
    assert (far.measured, far.agrees) == ((60.0,), False)
    assert (untouched.measured, untouched.agrees) == ((), None)


def test_narrower_networks_stand_beside_a_number_and_never_for_it(networks):
    run = Measured("SNN accuracy %", "vgg16", "cifar10", (4,), 84.14, "12 epochs", width=0.25)
    (row,) = [row for row in audit(networks, [run]) if row.narrower]
    assert (row.claim.printed, row.measured, row.difference, row.agrees) == ("95.61", (), None, None)
    assert row.reason == "no run here; 0.25 of the width: 84.14 (-11.47), 12 epochs"


def test_differences_are_measured_less_reported(networks):
    runs = [Measured("SNN accuracy %", "vgg16", "cifar10", (4,) * 15, value) for value in (93.0, 94.0)]
    told = {row["reported"]: row["difference"] for row in audit_rows(networks, runs) if row["difference"]}
    assert told == {"95.61": "-2.110"}


def test_records_of_runs_and_networks_are_read(tmp_path):
    run = {
        "kind": "run", "network": "vgg16", "dataset": "cifar10", "levels": {"a": 4, "b": 4}, "width": 1.0, "epochs": 24,
        "training_images": 45_000, "ann_accuracy": 0.93, "snn_accuracy": 0.93,
    }  # fmt: skip
    network = {
        "kind": "network", "dataset": "cifar10", "epochs": 12, "training_images": 45_000, "test_accuracy": 0.84,
        "build": {"name": "vgg16", "levels": 4, "width": 0.25, "pool": "avg"},
    }  # fmt: skip
    for name, record in (("run", run), ("deeper/network", network), ("other", {"kind": "certificate"})):
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(record))
    found = [(m.quantity, m.value, m.width) for m in measured_records(tmp_path)]
    assert found == [("ANN accuracy %", 84.0, 0.25), ("ANN accuracy %", 93.0, 1.0), ("SNN accuracy %", 93.0, 1.0)]
    assert list(measured_records(tmp_path / "absent")) == []
    for broken, told in (("{", "expected JSON"), (json.dumps({"kind": "run"}), "lacks 'network'")):
        (tmp_path / "broken.json").write_text(broken)
        with pytest.raises(PascalError, match=told):
            list(measured_records(tmp_path))


def test_measured_hardware_agrees_only_as_printed(networks):
    runs = [
        Measured("PASC latency s", "vgg16", "cifar10", (4,), 0.454),
        Measured("IF latency s", "vgg16", "cifar10", (4,), 0.41),
    ]
    agreed = {row.claim.quantity: row.agrees for row in audit(networks, runs) if "latency s" in row.claim.quantity}
    assert agreed == {"PASC latency s": True, "IF latency s": False}


def test_simulated_machines_stand_beside_the_paper_s_with_their_conditions(networks):
    row = {
        "preset": "pascal40", "overlap": "blocking", "pes": 16, "memory": True, "joint_density": 0.298,
        "neuron": "pasc", "energy_mj_per_10000": 35_620.0, "neuron_pj": 63_000.0, "latency_s_per_10000": 0.454,
    }  # fmt: skip
    others = [row | {"preset": "h1", "pes": 1024}, row | {"overlap": "pipelined"}]
    runs = list(measured_hardware("vgg16", "cifar10", (4,) * 15, [row, *others]))
    rows = {row.claim.quantity: row for row in audit(networks, runs)}
    measured = {name: rows[f"PASC {name}"].measured for name in ("energy mJ", "neurons' energy mJ", "latency s")}
    assert measured == {"energy mJ": (35_620.0,), "neurons' energy mJ": (pytest.approx(0.63),), "latency s": (0.454,)}
    assert [rows[f"PASC {name}"].agrees for name in measured] == [False, True, True]
    assert rows["PASC energy mJ"].reason == "one run here: pascal40, 16 PEs, memory on, 29.8% matches per MAC"
    assert rows["IF energy mJ"].reason == "no run here"


def test_flat_rows_are_text_with_the_same_columns(networks):
    run = Measured("SNN accuracy %", "vgg16", "cifar10", (4,), 95.5)
    rows = audit_rows(networks, [run, Measured(run.quantity, "vgg16", "cifar10", (4,), 95.7)])
    assert all(isinstance(value, str) for row in rows for value in row.values())
    assert len({tuple(row) for row in rows}) == 1
    (row,) = [row for row in rows if row["reported"] == "8.22"]
    assert (row["equation"], row["authors_list"], row["agrees"]) == ("8.770", "8.220", "no")
    assert [row["measured"] for row in rows if row["measured"]] == ["95.600 ± 0.141 (n=2)"]


def test_every_row_gives_its_source_and_a_reason(networks):
    assert all(row["source"] and row["reason"] for row in audit_rows(networks))


def test_missing_network_is_named(networks):
    without = {name: layers for name, layers in networks.items() if name != "resnet34-imagenet"}
    with pytest.raises(PascalError, match="resnet34-imagenet"):
        audit(without)


def test_networks_of_the_audit_are_complete(networks):
    assert networks.keys() == AUDIT_NETWORKS.keys()


def _key(claim):
    return claim.quantity, claim.network, claim.dataset, claim.levels
