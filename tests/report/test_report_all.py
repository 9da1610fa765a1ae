"""All tables and figures at once, whatever is missing; the rows are those that energy and hardware really make."""

import json
from dataclasses import asdict
from pathlib import Path

import matplotlib
import pytest

from pascal.audit import audit_rows
from pascal.energy import FP32, INT8, energy_rows, energy_summary, ratio_table, sensitivity, timestep_activity
from pascal.graph import Verification
from pascal.hardware import compare_machines
from pascal.hardware import sensitivity as hardware_sensitivity
from pascal.report import registry
from pascal.report.figures import build_figures, figure_plans
from pascal.report.registry import plans
from pascal.report.results import RunResults
from pascal.report.tables import build_tables
from pascal.training import EpochRecord
from pascal.workload import workload_row
from tests.energy import shapes
from tests.report.samples import AUDIT, run_results

NOTHING = RunResults("c100-r18", 0, "cifar100", "resnet18")
FAILED = run_results(
    "al", 1, adaptive=True, problem="NaN loss in epoch 3", accuracy=None, verify=None, levels=None, metric=None,
    workload=None, energy=None, energy_summary=None, hardware=None, accuracy_vs_timesteps=None,
    hardware_comparison=None,
)  # fmt: skip


@pytest.mark.parametrize(
    "results",
    [
        [],
        [NOTHING],
        [FAILED],
        [run_results()],
        [run_results(), run_results("al", 0, adaptive=True), FAILED, NOTHING],
        [run_results("r34", layers=33, level=16)],
    ],
    ids=["none", "no results", "failed", "one", "mixed", "33 layers"],
)
def test_all_tables_and_figures_are_made(results):
    tables = build_tables(results, AUDIT)
    assert tables.keys() == plans("tables").keys()
    for result in results:
        assert result.run in set(tables["accuracy"].run)
    figures = dict(build_figures(results))
    assert figures.keys() <= figure_plans(results).keys()
    assert all(figure.axes for figure in figures.values())


def test_names_of_figures_depend_on_runs_alone():
    bare = [RunResults("a", 0, "digits", "vgg16"), RunResults("al", 0, "digits", "vgg16", kind="derived")]
    full = [run_results("a"), run_results("a", 1), run_results("al", adaptive=True)]
    assert list(figure_plans(bare)) == list(figure_plans(full)) == list(dict(build_figures(full)))
    assert "al/metric" in figure_plans(bare)
    assert "a/metric" not in figure_plans(bare)


def test_a_figure_without_results_is_left_out():
    assert {name for name, _ in build_figures([NOTHING])} == {"qcfs", "pasc_neuron"}


def test_twenty_seeds_make_one_row_and_one_figure():
    results = [run_results(seed=seed) for seed in range(20)]
    assert build_tables(results)["accuracy"].seeds.tolist() == [20]
    assert figure_plans(results).keys() == figure_plans(results[:1]).keys()


def test_every_plan_has_a_caption():
    for plan in (*plans("tables").values(), *plans("figures").values()):
        assert plan.caption.endswith(".")


def test_settings_of_others_are_left_alone():
    before = dict(matplotlib.rcParams)
    list(build_figures([run_results()]))
    assert dict(matplotlib.rcParams) == before


@pytest.fixture(scope="module")
def real():
    """A run whose files are what the packages give for VGG-16 shapes."""
    workloads = shapes.spiking(shapes.vgg16(10, 32))
    costs = {"FP32": FP32, "INT8": INT8}
    small = [*workloads[10:12]]
    comparison, machines = compare_machines(small, images=2)
    histograms = {str(workload.activation): [5, 3, 1, 1] for workload in workloads if workload.activation}
    moved = hardware_sensitivity(small, images=1, variations={"pes": (16, 64)}, weight_densities=(1.0,))
    epochs = [EpochRecord(n, 1 / n, 0.8, 0.7, 0.1, 1.0, 8.0, 60.0) for n in (1, 2, 3)]
    verified = Verification(10, 1000, 0, 0, 0.0, None, (), "float64")
    files = {
        "accuracy": {"ann_accuracy": 0.9, "snn_accuracy": 0.9, "images": 10},
        "accuracy_vs_timesteps": [
            {"timesteps": 1, "accuracy": 0.5, "images": 60, "ann_accuracy": 0.9},
            {"timesteps": 2, "accuracy": 0.9, "images": 60, "ann_accuracy": 0.9},
        ],
        "verify": json.loads(verified.to_json()),
        "train": [asdict(epoch) for epoch in epochs],
        "workload": [workload_row(workload) for workload in workloads],
        "activity": [asdict(cell) for cell in timestep_activity(histograms)],
        "energy": energy_rows(workloads, costs),
        "energy_summary": energy_summary(workloads, costs),
        "energy_sensitivity": [asdict(row) for row in sensitivity(workloads, costs)],
        "ratios": ratio_table(workloads),
        "hardware": [simulation.summary() for simulation in machines.values()],
        "hardware_comparison": comparison,
        "hardware_sensitivity": moved,
    }  # fmt: skip
    return RunResults("vgg", 0, "cifar10", "vgg16", files=files)


def test_rows_of_the_other_packages_are_understood(real):
    audit = audit_rows(shapes.audit_networks())
    tables = build_tables([real], audit)
    assert tables["missing"].empty
    total = tables["operations"].iloc[-1]
    assert (total.macs, total.reported_macs) == (332_111_872, 332_111_872)  # appendix, VGG-16 on CIFAR-10
    assert tables["energy"].set_index("costs").reported_ratio.to_dict() == {"FP32": "7.49", "INT8": "11.03"}
    assert tables["accuracy"].reported_snn_accuracy_percent[0] == "95.61"
    assert set(tables["hardware"].neuron) == {"if", "pasc", "qcfs"}
    assert "446.02" in set(tables["hardware"].reported_energy_mj_per_10000)
    assert len(tables["audit"]) == len(audit)
    drawn = [name for name, figure in build_figures([real]) if figure.axes]
    others = {"equivalence", "histogram", "rivals_timesteps", "rivals_sequential", "rivals_synapses"}
    assert set(figure_plans([real])) - set(drawn) == {f"vgg/{name}" for name in others}  # not of these packages


def test_a_figure_is_one_file(tmp_path, monkeypatch):
    """As docs/extend.md has it."""
    page = (Path(__file__).parents[2] / "docs/extend.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/losses.py").write_text(code)
    monkeypatch.setattr(registry, "__file__", str(tmp_path / "registry.py"))
    registry.plans.cache_clear()
    try:
        assert registry.plans("figures")["losses"].files == ("train",)
    finally:
        registry.plans.cache_clear()
    made: dict = {}
    exec(code, made)
    assert made["losses"]([run_results(), run_results(seed=1)]).axes[0].lines
