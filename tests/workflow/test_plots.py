"""What `dvc plots` draws: curves of all runs in one file, on a page that asks nobody for its scripts."""

import json
import re
from pathlib import Path

import yaml

from pascal.pipeline.parameters.names import RESERVED
from pascal.pipeline.plan import PLACE
from pascal.pipeline.plots import PAGE, page
from pascal.report.curves import curve_table
from pascal.report.registry import CURVES
from tests.report.samples import run_results

ROOT = Path(__file__).parents[2]


def test_the_page_brings_its_scripts_along() -> None:
    text = page()
    assert text.count("{plot_divs}") == 1
    assert "{scripts}" not in text  # where DVC would put addresses
    assert not re.search(r"<script[^>]*src", text)
    assert f"html_template = ../{PLACE / PAGE}" in (ROOT / ".dvc/config").read_text()


def test_plots_name_columns_that_the_files_have() -> None:
    results = [run_results("a", seed) for seed in (0, 1)]
    template = json.loads((ROOT / ".dvc/plots/runs.json").read_text())
    for entry in yaml.safe_load((ROOT / "dvc.yaml").read_text())["plots"]:
        ((_, plot),) = entry.items()
        ((file, over),) = plot["x"].items()
        table = curve_table(results, CURVES[Path(file).stem])
        assert {over, plot["y"][file], template["encoding"]["color"]["field"]} == set(table)
        assert len(table) == table[over].nunique()  # one point over both seeds
        assert Path(file).parent.name in RESERVED


def test_runs_without_curves_leave_an_empty_file() -> None:
    assert list(curve_table([], CURVES["training"])) == ["run", "epoch", "validation_accuracy"]
