"""What costs no training: finding that nothing is to do, and tables of the files that are there."""

import os
import re
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest
import yaml

from pascal.files import write_text
from pascal.pipeline.canonical import dump
from pascal.pipeline.records import Record, digests
from tests.workflow.workspace import ROOT, Workspace, make_workspace


def test_nothing_to_do_is_found_out_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the shipped parameters and all their files in place; processor time, for other tests run beside this one."""
    workspace = make_workspace(tmp_path / "workspace", yaml.safe_load((ROOT / "params.yaml").read_text()))
    listed = workspace.run("snakemake", "--summary", "all").check().text
    for file in [*re.findall(r"^((?:results|work)/\S+)\t", listed, re.MULTILINE), "results/mlflow.db"]:
        (workspace.path / file).parent.mkdir(parents=True, exist_ok=True)
        (workspace.path / file).touch()
    workspace.snakemake("--touch", "all").check()
    monkeypatch.chdir(workspace.path)
    _write_records(workspace.run("snakemake", "--detailed-summary", "all").check().text)
    before = os.times()
    assert "Nothing to be done" in workspace.snakemake("all").check().text
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 10


def _write_records(summary: str) -> None:
    """What the jobs of a summary would have recorded, had they made the files that are there."""
    made = defaultdict(list)
    for line in summary.splitlines():
        if line.startswith(("results/", "work/")):
            output, _, rule, _, inputs, *_ = line.split("\t")
            made[rule, inputs].append(output)
    for number, ((rule, inputs), outputs) in enumerate(made.items()):
        record = Record(rule, digests(inputs.split(",")), digests(outputs))
        write_text(f"results/records/{number}.json", dump(asdict(record)))


def test_what_is_missing_is_told_so_far(computed: Workspace, tmp_path: Path) -> None:
    workspace = computed.copy(tmp_path / "workspace")
    for file in ("accuracy.json", "verify.json", "hardware.csv"):
        (workspace.path / "results/adaptive/0" / file).unlink()
    (workspace.path / "logs/evaluate/adaptive-0.log").write_text("a trace\nevaluate: out of memory; lower batch_size\n")
    before = workspace.results()
    assert set(workspace.snakemake("so_far").check().jobs) == {"so_far"}
    assert workspace.results() == before
    tables = workspace.path / "work/so_far/tables"
    (missing,) = pd.read_csv(tables / "missing.csv").to_dict("records")
    assert (missing["run"], missing["missing"]) == ("adaptive", "accuracy, hardware, verify")
    assert missing["problem"] == "evaluate: out of memory; lower batch_size"
    assert list(pd.read_csv(tables / "accuracy.csv").run) == ["plain", "adaptive"]
    assert (workspace.path / "work/so_far/figures/pareto_t_eff.png").exists()
