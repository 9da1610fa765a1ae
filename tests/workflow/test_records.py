"""Records of outputs: a file is current if a record vouches for its bytes and for all they were made from."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from pascal.pipeline import dvc, intact
from pascal.pipeline.canonical import dump
from pascal.pipeline.fit import check_results
from pascal.pipeline.memory import Memory
from pascal.pipeline.records import digests, file_digest, record_path, text_digest, write_record
from tests.workflow.workspace import Workspace

A, B, C = "results/run/0/a.csv", "results/run/0/b.csv", "results/tables/c.csv"
ENERGY = "results/plain/0/energy.json"
PARAMS = {"a": "build/params/run/a.json", "b": "build/params/run/b.json", "c": "build/report.json"}


class Folder:
    """Three jobs in a row, a → b → c, each with a file of parameters."""

    def __init__(self) -> None:
        self.texts = {path: f"parameters of {rule}" for rule, path in PARAMS.items()}
        self.make()

    def make(self, rules: str = "abc") -> None:
        """Run some jobs."""
        for rule, output, before in (("a", A, []), ("b", B, [A]), ("c", C, [B])):
            if rule in rules:
                _write(PARAMS[rule], self.texts[PARAMS[rule]])
                job = _job(rule, output, **({} if rule == "c" else {"run": "run", "seed": "0"}))
                inputs = digests([PARAMS[rule], *before])
                _write(output, f"{rule}: {self.texts[PARAMS[rule]]}, {[Path(path).read_text() for path in before]}")
                write_record(job, inputs)

    def old(self) -> set[str]:
        """The files that count as missing."""
        stamps = {path: text_digest(text) for path, text in self.texts.items()}
        return set(check_results(stamps).faults())


def _job(rule: str, output: str, **wildcards: str) -> SimpleNamespace:
    return SimpleNamespace(rule=rule, output=[output], wildcards=SimpleNamespace(**wildcards))


def _write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """The jobs, done."""
    monkeypatch.chdir(tmp_path)
    return Folder()


def test_what_was_made_from_the_same_fits(folder: Folder) -> None:
    assert folder.old() == set()


def test_other_parameters_make_old_what_follows(folder: Folder) -> None:
    folder.texts[PARAMS["b"]] = "others"
    assert folder.old() == {B, C}
    folder.make("bc")
    assert folder.old() == set()
    folder.texts[PARAMS["b"]] = "parameters of b"  # back again, as by git checkout
    assert folder.old() == {B, C}


def test_edited_bytes_are_not_believed(folder: Folder) -> None:
    size, times = os.stat(B).st_size, (os.stat(B).st_atime_ns, os.stat(B).st_mtime_ns)
    _write(B, "x" * size)
    os.utime(B, ns=times)  # neither size nor time tells
    assert folder.old() == {B, C}


def test_a_file_that_is_not_there_makes_nothing_else_old(folder: Folder) -> None:
    """It would be made again to the same bytes."""
    os.unlink(A)
    assert folder.old() == set()
    folder.texts[PARAMS["a"]] = "others"
    assert folder.old() == {B, C}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"rule": 1, "inputs": 2, "outputs": 3}', "null"])
def test_a_damaged_record_vouches_for_nothing(folder: Folder, text: str) -> None:
    _write("results/run/0/records/b.json", text)
    assert folder.old() >= {B}


def test_a_copied_or_moved_result_is_none_of_its_new_place(folder: Folder) -> None:
    _write("results/other/0/a.csv", Path(A).read_text())
    os.replace(B, A)
    assert folder.old() == {"results/other/0/a.csv", A, C}


def test_results_of_another_seed_with_their_record_are_no_results_of_this_one(folder: Folder) -> None:
    _write("results/run/1/a.csv", Path(A).read_text())
    _write("results/run/1/records/a.json", Path("results/run/0/records/a.json").read_text())
    assert folder.old() == {"results/run/1/a.csv"}


def test_records_that_name_each_other_are_nobodys(folder: Folder) -> None:
    one, two = file_digest(A), file_digest(B)
    _write("results/run/0/records/a.json", dump({"rule": "a", "inputs": {B: two}, "outputs": {A: one}}))
    _write("results/run/0/records/b.json", dump({"rule": "b", "inputs": {A: one}, "outputs": {B: two}}))
    assert folder.old() == {A, B, C}


def test_a_rule_that_the_plan_no_longer_asks_for_vouches_for_nothing(folder: Folder) -> None:
    """A run whose levels were derived and are given now: files and records of the other rule may still lie there."""
    del folder.texts[PARAMS["a"]]
    assert folder.old() == {A, B, C}


def test_time_stamps_in_any_order_mean_nothing(folder: Folder) -> None:
    for age, path in enumerate((C, B, A)):
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    assert folder.old() == set()
    assert os.stat(A).st_mtime_ns == os.stat(B).st_mtime_ns == os.stat(C).st_mtime_ns > time.time_ns() - 10**11


def test_check_says_what_does_not_fit(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert intact.main([]) == 1
    assert "snakemake --cores 1 --dry-run all" in capsys.readouterr().err
    stamps = {path: text_digest(text) for path, text in folder.texts.items()}
    _write(str(intact.PLAN), dump({"stamps": stamps, "results": [A, B, C]}))
    assert intact.main([]) == intact.main([A, B, C]) == 0
    _write(C, "edited")
    assert intact.main([A]) == 0
    assert intact.main([]) == intact.main([C]) == 1
    assert f"{C}: other bytes than stage c wrote" in capsys.readouterr().err
    assert intact.main(["results/nothing.csv"]) == 1


def test_records_stand_in_folders_that_dvc_keeps() -> None:
    places = {
        record_path(_job("energy", "results/plain/0/energy.csv", run="plain", seed="0")),
        record_path(_job("retrain", "work/retrain/plain/0.csv", run="plain", seed="0")),  # finetuning depends on it
        record_path(_job("prepare", "results/data/digits.json", dataset="digits")),
        record_path(_job("tables", "results/tables/accuracy.csv")),
        record_path(_job("figures", "results/figures/spikes.png")),
        record_path(_job("run_figures", "results/figures/plain/activity.png", run="plain")),
    }
    kept = [path for out in dvc.stages()["report"]["outs"] for path in out]
    kept += ["results/plain/0", "results/figures/plain"]
    assert len(places) == 6
    assert all(any(place.is_relative_to(folder) for folder in kept) for place in places)


def test_a_file_written_twice_within_a_tick_is_read_again(tmp_path: Path) -> None:
    """Git calls such entries racy: size and time may be those of the file before."""
    file, seen = tmp_path / "file", []
    memory = Memory(tmp_path / "memory.json", file_digest)
    file.write_text("one")
    first = memory.of(file)
    stat = os.stat(file)
    memory.save()
    file.write_text("two")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert Memory(tmp_path / "memory.json", file_digest).of(file) != first
    old = time.time() - 60
    os.utime(file, (old, old))
    memory = Memory(tmp_path / "memory.json", lambda path: seen.append(path) or file_digest(path))
    memory.of(file)
    assert len(seen) == 1  # the change of the time stamp itself is a moment ago


REPORT = {"tables", "figures", "run_figures", "track"}


def test_results_of_another_branch_are_not_taken_for_those_of_this_one(workspace: Workspace) -> None:
    """Branches with other costs, checked out to and fro, with and without their results."""
    ours = workspace.results()
    workspace.run("git", "checkout", "-q", "-b", "other").check()
    workspace.set("defaults", "energy", "fp32", "add_pj", 0.5)
    workspace.dvc("repro").check()
    workspace.commit("other costs")
    others = workspace.results()
    assert others[ENERGY] != ours[ENERGY]
    workspace.run("git", "checkout", "-q", "-").check()
    workspace.dvc("checkout").check()
    assert workspace.results() == ours
    workspace.run("git", "checkout", "-q", "other").check()
    ran = workspace.snakemake("all").check()
    assert set(ran.jobs) == {"energy"} | REPORT
    assert workspace.results() == others
    assert "Running stage" not in workspace.dvc("repro").check().text
    assert "Nothing to be done" in workspace.snakemake("all").check().text


def test_edited_and_cut_results_are_made_anew_by_both_tools(workspace: Workspace) -> None:
    before, home = workspace.results(), workspace.path / "results/plain/0"
    accuracy = json.loads((home / "accuracy.json").read_text())
    (home / "accuracy.json").write_text(dump(accuracy | {"snn_accuracy": 0.999}))
    assert set(workspace.dvc("repro").check().jobs) == {"evaluate"}
    assert workspace.results() == before
    rows = (home / "hardware.csv").read_bytes()
    (home / "hardware.csv").write_bytes(rows[: rows.rindex(b"\n", 0, -1) + 1])
    ran = workspace.snakemake("all").check()
    assert "results/plain/0/hardware.csv: other bytes than stage hardware wrote; it counts as missing" in ran.text
    assert set(ran.jobs) == {"hardware"} | REPORT
    assert ran.jobs["hardware"] == 1
    assert workspace.results() == before
    assert "Running stage" not in workspace.dvc("repro").check().text


def test_deleted_files_come_back_and_remarks_rerun_nothing(workspace: Workspace) -> None:
    scripts = sorted((workspace.path / "workflow/scripts").glob("*.py"))
    for age, script in enumerate(scripts):
        os.utime(script, (10**9 + age, 10**9 + age)) if age % 2 else script.touch()
    with open(workspace.path / "workflow/scripts/prepare.py", "a") as file:
        file.write("# a remark\n")
    assert "Nothing to be done" in workspace.snakemake("all").check().text
    before = workspace.results()
    deleted = ("plain/0/ratios.csv", "plain/0/accuracy_vs_timesteps.csv", "tables/energy.tex", "metrics/plain.json")
    for name in (*deleted, "figures/qcfs.pdf", "figures/plain/training.pdf"):
        (workspace.path / "results" / name).unlink()
    workspace.snakemake("all").check()
    assert workspace.results() == before
