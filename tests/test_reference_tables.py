"""The pages' results are what the reference files hold, and the files what the pipeline left behind."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from benchmarks.publishing import reference, reference_tables
from benchmarks.publishing.pages import with_section
from benchmarks.publishing.reference_figure import reference_figure
from benchmarks.publishing.reference_tables import (
    FOLDER,
    PAGE,
    README,
    Reference,
    open_reference,
    section,
    trained_part,
)
from pascal.report.style import save_figure

CERTIFICATE = {"images": 10, "neurons": 1000, "count_mismatches": 0, "prediction_mismatches": 0}


def _write(folder: Path, name: str, **changes: Any) -> None:
    found = {
        "ann_accuracy": 0.88, "snn_accuracy": 0.88, "certificate": CERTIFICATE, "levels": {"a": 4, "b": 4},
        "timesteps": {"t_eff": 3.5},
        "plain_if": {"images": 2000, "ann_accuracy": 0.87, "accuracy": {"4": 0.5, "64": 0.8}},
    }  # fmt: skip
    (folder / f"{name}.json").write_text(json.dumps(found | changes))


def _cells(text: str, *begin: str) -> list[str]:
    """The cells of the one row that begins like this."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    (row,) = [row for row in rows if row[: len(begin)] == list(begin)]
    return row[len(begin) :]


@pytest.mark.parametrize(("page", "name", "make"), [(PAGE, "results", section), (README, "trained", trained_part)])
def test_pages_tell_what_the_files_hold(page: Path, name: str, make: Callable[[Reference], str]) -> None:
    text = page.read_text()
    assert f"<!-- {name} -->" in text
    assert text == with_section(text, name, make(open_reference(FOLDER))), (
        "run python -m benchmarks.publishing.reference_tables"
    )


def test_the_figure_shows_what_the_files_hold(tmp_path: Path) -> None:
    drawn, _ = save_figure(reference_tables.figure(open_reference(FOLDER)), tmp_path / "runs")
    assert np.array_equal(imread(drawn), imread(reference_tables.FIGURE)), (
        "run python -m benchmarks.publishing.reference_tables"
    )


def _inside(tmp_path: Path) -> Path:
    """A folder beside which no other records stand."""
    folder = tmp_path / "cifar10"
    folder.mkdir(exist_ok=True)
    return folder


def test_what_was_not_run_says_so(tmp_path: Path) -> None:
    text = section(open_reference(_inside(tmp_path)))
    assert "|" not in text
    assert "Not run yet: vgg-l4: vgg16, width 0.25; resnet-l4" in text
    assert "vgg-l4: random, 4/2/1" in text


def test_uniform_networks_stand_beside_relu_and_plain_if(tmp_path: Path) -> None:
    _write(_inside(tmp_path), "vgg-l4-0", certificate=CERTIFICATE | {"count_mismatches": 3})
    (_inside(tmp_path) / "vgg-l4-relu.json").write_text(json.dumps({"accuracy": 0.9012}))
    told = _cells(section(open_reference(_inside(tmp_path))), "vgg-l4", "vgg16, width 0.25", "4", "15")
    assert told == ["90.12", "88.00", "88.00", "3 of 1,000", "50.00", "80.00", "87.00", "2,000"]


def test_runs_that_differ_in_levels_alone_share_their_twin(tmp_path: Path) -> None:
    for run in ("vgg-l4", "resnet-l8"):
        _write(_inside(tmp_path), f"{run}-0")
    (_inside(tmp_path) / "resnet-l4-relu.json").write_text(json.dumps({"accuracy": 0.9012}))
    text = section(open_reference(_inside(tmp_path)))
    assert _cells(text, "resnet-l8", "resnet18, width 0.25", "8", "20")[0] == "90.12"
    assert _cells(text, "vgg-l4", "vgg16, width 0.25", "4", "15")[0] == "not run"


def test_random_orders_are_a_mean_with_its_deviation(tmp_path: Path) -> None:
    for number, accuracy in ((1, 0.80), (2, 0.82), (4, 0.84)):
        _write(_inside(tmp_path), f"vgg-al-random{number}-0", ann_accuracy=accuracy, levels={"a": number, "b": 1})
    _write(_inside(tmp_path), "vgg-al-0", ann_accuracy=0.85, levels={"a": 4, "b": 1})
    _write(_inside(tmp_path), "r20-l4-0", ann_accuracy=0.91)
    text = section(open_reference(_inside(tmp_path)))
    mean = _cells(text, "vgg-l4", "random, 4/2/1")
    assert mean == ["3 of 5", "82.00 ± 2.00", "88.00 ± 0.00", "3.50 ± 0.00", "0 of 3,000", "differ"]
    assert _cells(text, "vgg-l4", "metric, 4/2/1") == ["1 of 1", "85.00", "88.00", "3.50", "0 of 1,000", "4 1"]
    assert _cells(text, "r20-l8", "uniform, 4")[:2] == ["1 of 1", "91.00"]
    told = "the metric's order of 4/2/1 does better than 3 of the 3 random orders (85.00 against 82.00 ± 2.00)"
    assert f"From vgg-l4, {told}" in text
    assert "From r20-l8" not in text


def test_the_figure_has_a_point_for_each_run(tmp_path: Path) -> None:
    for number, accuracy in ((1, 0.80), (2, 0.82)):
        _write(_inside(tmp_path), f"vgg-al-random{number}-0", snn_accuracy=accuracy)
    for run, accuracy in (("vgg-l4", 0.9), ("vgg-al", 0.85)):
        _write(_inside(tmp_path), f"{run}-0", snn_accuracy=accuracy)
    reference = open_reference(_inside(tmp_path))
    plain, orders = reference_figure(
        reference, ["vgg-l4"], {"vgg-l4": reference_tables.orders(reference, "vgg-l4")}
    ).axes
    assert plain.lines[0].get_ydata() == pytest.approx([50, 80])
    assert plain.lines[1].get_ydata() == pytest.approx([87, 87])
    points = {each.get_label(): each.get_offsets().tolist() for each in orders.collections}
    assert points == {"uniform": [[3.5, 90]], "metric": [[3.5, 85]], "random": [[3.5, 80], [3.5, 82]]}


def test_a_network_of_ones_own(tmp_path: Path) -> None:
    accuracy = {"relu": 0.9173, "quantized": 0.2, "calibrated": 0.8, "fine_tuned": 0.9, "snn": 0.9}
    (_inside(tmp_path) / "own-l8.json").write_text(
        json.dumps({"epochs": 2, "accuracy": accuracy, "certificate": CERTIFICATE})
    )
    text = section(open_reference(_inside(tmp_path)))
    assert _cells(text, "8", "2") == ["91.73", "20.00", "80.00", "90.00", "90.00", "0 of 1,000"]
    assert "Not run yet: L = 4." in text


def test_only_what_is_between_the_marks_changes() -> None:
    page = "before\n<!-- results -->\nold\n<!-- /results -->\nafter\n"
    assert with_section(page, "results", "new\n") == page.replace("old", "new")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """What one finished run of the preset leaves behind, its training interrupted once."""
    files = {
        "results/data/cifar10.json": json.dumps({"splits": {"train": {"images": 45_000}}}),
        "results/vgg-al/0/accuracy.json": json.dumps({"ann_accuracy": 0.8, "snn_accuracy": 0.8, "images": 10_000}),
        "results/vgg-al/0/verify.json": json.dumps(CERTIFICATE | {"max_logit_error": 0.0, "dtype": "float64"}),
        "results/vgg-al/0/levels.json": json.dumps({"z": 4, "a": 1}),
        "results/vgg-al/0/train.csv": _curve(15, seconds=4.0),
        "results/vgg-al/0/histogram.csv": "layer,level,count\nz,0,50\nz,1,30\nz,2,20\na,0,90\na,1,5\na,2,5\n",
        "results/vgg-al/0/accuracy_vs_timesteps.csv": _over_timesteps(),
        "logs/finetune/vgg-al-0.log": "commit abc with edits\nepoch 11/15\n",
        "logs/times/finetune/vgg-al-0.tsv": "s\th:m:s\n7.5\t0:00:07\n",
        "logs/times/verify/vgg-al-0.tsv": "s\th:m:s\n9.25\t0:00:09\n",
    }  # fmt: skip
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "results"


def _over_timesteps() -> str:
    return "timesteps,accuracy,images,ann_accuracy\n1,0.25,2000,0.75\n2,0.5,2000,0.75\n"


def _curve(epochs: int, seconds: float) -> str:
    return "\n".join(["epoch,loss,seconds", *(f"{epoch},{1 / epoch},{seconds}" for epoch in range(1, epochs + 1))])


def test_collected_runs(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["reference", str(results), str(tmp_path / "out")])
    reference.main()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["curves.csv", "metric.csv", "vgg-al-0.json"]
    found = json.loads((tmp_path / "out/vgg-al-0.json").read_text())
    assert list(found["levels"].items()) == [("z", 4), ("a", 1)]  # in forward order
    assert found["seconds"] == {"finetune": 20.0, "verify": 9.25}  # the last five of fifteen epochs
    assert found["plain_if"] == {"images": 2000, "ann_accuracy": 0.75, "accuracy": {"1": 0.25, "2": 0.5}}
    assert found["commit"] == "abc with edits"
    assert (found["training_images"], found["epochs"], found["timesteps"]) == (45_000, 15, None)
    assert (found["adapt"]["method"], found["train"]["batch_size"]) == ("metric", 128)
    assert found["command"] == "snakemake --cores 2 all --configfile workflow/presets/cifar10-small.yaml"
    rows = (tmp_path / "out/metric.csv").read_text().splitlines()
    assert rows[0] == "run,seed,moments,k,layer,metric"
    assert [row.split(",")[3] for row in rows[1:]] == ["1.0", "1.0", "0.75", "0.75", "0.5", "0.5"]
    assert "vgg-l4, seed 0: not evaluated yet" in capsys.readouterr().out
    assert reference_tables.open_reference(tmp_path / "out").of("vgg-al") == [found]
