"""What DVC's stages depend on, what is left over when a run changes, and edits while a command runs."""

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import save

from pascal.pipeline import dvc, intact, manifest
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.plan import LINKS, PLACE, write_plan
from pascal.pipeline.records import file_digest
from pascal.pipeline.sources import read_source
from pascal.pipeline.stage import stage
from tests.workflow.workspace import tiny_params

CODE = {name: f"{name} 1" for name in ("prepare", "train", "energy", "tables", "figures", "run_figures", "track")}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("workflow").mkdir()
    Path("mine.safetensors").write_bytes(save({"weight": torch.ones(1)}))


def _plan(params: dict[str, Any], code: dict[str, str] = CODE) -> dict[str, str]:
    Path("params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    write_plan(load_params(Path("params.yaml")), code, file_digest)
    return {path.relative_to(PLACE).with_suffix("").as_posix(): path.read_text() for path in PLACE.rglob("*.json")}


def _changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name in before | after if before.get(name) != after.get(name)}


def test_stages_depend_on_their_own() -> None:
    params = tiny_params()
    before = _plan(params)
    assert _changed(before, _plan(params)) == set()
    assert _changed(before, _plan(params, CODE | {"track": "2"})) == {"track"}
    assert _changed(before, _plan(params, CODE | {"run_figures": "2"})) == {"figures"}
    assert _changed(before, _plan(params, CODE | {"energy": "2"})) == {"runs/plain", "runs/adaptive", "report"}
    edited = copy.deepcopy(params)
    edited["runs"]["adaptive"]["adapt"]["k"] = 2.0
    assert _changed(before, _plan(edited)) == {"runs/adaptive", "report"}
    edited = copy.deepcopy(params)
    edited["runs"]["plain"]["levels"] = 2
    assert _changed(before, _plan(edited)) == {"runs/plain", "runs/adaptive", "report"}
    reordered = params | {"runs": dict(reversed(params["runs"].items()))}
    assert _changed(before, _plan(reordered)) == {"report"}
    removed = params | {"runs": {"plain": params["runs"]["plain"]}}
    assert _changed(before, _plan(removed)) == {"runs/adaptive", "report"}


@pytest.mark.parametrize("name", ["report", "track", "checked", "plan"])
def test_no_name_of_a_run_is_that_of_another_plan(name: str) -> None:
    params = tiny_params()
    before = _plan(params)
    params["runs"][name] = dict(params["runs"]["plain"])
    assert _changed(before, _plan(params)) == {"report", f"runs/{name}"}


def _stages() -> list[dict[str, Any]]:
    return [each.get("do", each) for each in dvc.stages().values()]


def test_every_stage_of_dvc_waits_for_the_check_whatever_names_say() -> None:
    first, *others = _stages()
    assert first["cmd"].startswith("python -m pascal.pipeline.check --every-run && ")
    assert all({"build/plan/checked.json": None} in each["params"] for each in others)
    assert "checked" in _plan(tiny_params())
    commands = " ".join(each["cmd"] for each in others)
    assert commands.count("${") == commands.count("'${") == 3


def test_weights_count_by_their_bytes() -> None:
    params = tiny_params()
    params["runs"]["plain"]["weights"] = "mine.safetensors"
    before = _plan(params)
    assert (LINKS / "plain").resolve() == Path("mine.safetensors").resolve()
    Path("mine.safetensors").write_bytes(save({"weight": torch.zeros(1)}))
    assert _changed(before, _plan(params)) == {"runs/plain", "runs/adaptive", "report"}
    del params["runs"]["plain"]["weights"]
    _plan(params)
    assert not list(LINKS.iterdir())


def test_weights_of_another_run_count_by_what_makes_them() -> None:
    params = tiny_params()
    params["runs"]["first"] = dict(params["runs"]["plain"])
    params["runs"]["plain"]["weights"] = "results/first/0/ann.safetensors"
    before = _plan(params)
    assert not list(LINKS.glob("*"))
    params["runs"]["first"]["width"] = 0.125
    assert _changed(before, _plan(params)) == {"runs/first", "runs/plain", "runs/adaptive", "report"}


def test_files_of_another_kind_of_run_are_left_over() -> None:
    ours, theirs = ["energy.csv", "records/energy.json", "notes.txt"], ["metric.csv", "records/assign.json"]
    for name in (*ours, *theirs):
        path = Path("results/run/0", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert manifest.left_over("run", "derived", [0]) == set()
    assert manifest.left_over("run", "given", [0]) == {Path("results/run/0", name) for name in theirs}


def test_edits_while_a_command_runs_are_told() -> None:
    intact.PLAN.parent.mkdir()
    intact.PLAN.write_text(json.dumps({"stamps": {"build/code/a.txt": "1", "build/code/b.txt": "1"}, "results": []}))
    assert intact.edited_since({"build/code/a.txt": "1", "build/code/b.txt": "1"}) == ""
    assert "build/code/b.txt; run the same command again" in intact.edited_since({"build/code/a.txt": "1"})


class _Input(dict[str, str]):
    def __iter__(self) -> Any:
        return iter(self.values())

    params = property(lambda self: self["params"])


def test_a_stage_refuses_code_that_was_edited_since_it_was_planned(capsys: pytest.CaptureFixture[str]) -> None:
    """Else results of the edited code would be recorded as those of the code before, and be current once it is back."""
    for file, text in {"pascal/part.py": "x = 1\n", "build/datasets/digits.json": '{"source": "digits"}'}.items():
        Path(file).parent.mkdir(parents=True)
        Path(file).write_text(text)
    Path("build/code.txt").write_text(f"{read_source(Path('pascal/part.py'))['digest']}  pascal/part.py\n")
    inputs = _Input(params="build/datasets/digits.json", code="build/code.txt")
    job = SimpleNamespace(
        rule="prepare",
        input=inputs,
        output=[],
        log=["logs/a.log"],
        scriptdir=str(Path("workflow/rules/../scripts").absolute()),
    )
    with stage(job):
        pass
    Path("pascal/part.py").write_text("x = 1  # a remark\n")
    with stage(job):
        pass
    Path("pascal/part.py").write_text("x = 2\n")
    with pytest.raises(SystemExit), stage(job):
        raise AssertionError("it must not begin")
    assert "pascal/part.py was edited since this command began; run the same command again" in capsys.readouterr().err
