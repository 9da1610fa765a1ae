"""Bad parameters stop before any job, and the message names the key's path, the value and what was expected."""

import copy
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import save

from pascal.neurons.qcfs import MOST_LEVELS
from pascal.pipeline.check import main
from pascal.pipeline.errors import ParameterError
from pascal.pipeline.parameters.base import MOST_LEVELS as MOST_PLANNED
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.weights import plannable
from tests.workflow.bad_parameters import FAULTS, Fault
from tests.workflow.workspace import ROOT, tiny_params


def _refuse(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(ParameterError) as caught:
        load_params(path)
    return str(caught.value)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_names_path_value_and_expectation(fault: Fault, tmp_path: Path) -> None:
    params = copy.deepcopy(tiny_params())
    fault.change(params)
    message = _refuse(tmp_path / "params.yaml", yaml.safe_dump(params, sort_keys=False))
    line = next((line for line in message.splitlines() if f" {fault.path}:" in line), "")
    assert line, message
    assert fault.value in line
    assert fault.expected in line


def test_good_parameters_pass(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(tiny_params()))
    assert load_params(tmp_path / "params.yaml").runs


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("runs:\n  a: 1\n  b: 2\n  a: 3\n", ("line 4", "'a'", "twice", "line 2")),
        ("runs:\n\ta: 1\n", ("line 2", "tab", "spaces")),
        ("runs: [1, 2\n", ("line", "expected")),
        ("", ("the file", "None", "mapping")),
        ("just text\n", ("the file", "'just text'", "mapping")),
    ],
    ids=["duplicate key", "tab", "open bracket", "empty file", "text"],
)
def test_names_faults_of_the_file(text: str, told: tuple[str, ...], tmp_path: Path) -> None:
    message = _refuse(tmp_path / "params.yaml", text)
    assert all(part in message for part in told), message


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"params\.yaml: no such file; expected a parameter file"):
        load_params(tmp_path / "params.yaml")


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    params: dict[str, Any] = copy.deepcopy(tiny_params())
    params["defaults"]["device"], params["runs"]["plain"]["levels"] = "tpu", 0
    message = _refuse(tmp_path / "params.yaml", yaml.safe_dump(params))
    assert "defaults.device" in message
    assert "runs.plain.levels" in message


@pytest.mark.parametrize(
    "adapt",
    [{"k": 14.9}, {"k": 4.9, "threshold_over": "bins"}, {"k": 1, "moments": "frequencies"}],
    ids=["layers", "bins", "frequencies"],
)
def test_the_largest_of_what_the_metric_takes_passes(adapt: dict[str, Any], tmp_path: Path) -> None:
    params = copy.deepcopy(tiny_params())
    params["runs"]["adaptive"]["adapt"] |= adapt
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params))
    assert load_params(tmp_path / "params.yaml").runs


def test_weights_as_they_are_need_no_images_to_choose_by(tmp_path: Path) -> None:
    params = copy.deepcopy(tiny_params())
    params["datasets"]["digits"]["validation"] = 0
    params["runs"] = {"plain": params["runs"]["plain"] | {"weights": "w", "train": {"epochs": 0, "selection": "best"}}}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params))
    assert load_params(tmp_path / "params.yaml").runs


def test_planning_knows_the_most_levels() -> None:
    assert MOST_PLANNED == MOST_LEVELS


def test_parameters_are_checked_before_torch_is_imported() -> None:
    code = "import sys, pathlib, pascal.pipeline.parameters.file as p; p.load_params(pathlib.Path(sys.argv[1])); "
    light = "assert not {'torch', 'numba', 'numpy'} & sys.modules.keys()"
    command = [sys.executable, "-c", code + light, ROOT / "params.yaml"]
    subprocess.run(command, cwd=ROOT / "workflow" / "scripts", check=True)


@pytest.mark.parametrize("file", ["params.yaml", *sorted(map(str, Path("workflow/presets").glob("*.yaml")))])
def test_shipped_parameters_are_good(file: str) -> None:
    assert load_params(ROOT / file).runs


def test_numbers_without_a_point_are_numbers(tmp_path: Path) -> None:
    text = yaml.safe_dump(tiny_params()).replace("weight_decay: 0.0005", "weight_decay: 5e-4")
    (tmp_path / "params.yaml").write_text(text)
    assert load_params(tmp_path / "params.yaml").defaults.train.weight_decay == 5e-4


_BOMB = "a0: &a0 [x, x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
_MERGES = "m0: &m0 {a: 1}\n" + "".join(f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}]}}\n" for n in range(1, 40))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (_BOMB, "aliases written out"),
        (_MERGES, "aliases written out"),
        ("a: &a [*a]\n", "aliases written out"),
        ("[" * 5000, "in each other, expected at most 30"),
        ("a: " + "[" * 100_000 + "]" * 100_000, "in each other, expected at most 30"),
        ("x" * 10_000_000, "more than 1,000,000 bytes"),
        ("runs: [" + "1, " * 200_000 + "]", "more than 100,000 values"),
        ("a: " + "9" * 5000, "more digits"),
        ("a: !!python/object:os.system {}", "without tags"),
        ("runs: " + "x" * 500_000, "expected a mapping"),
    ],
    ids=["bomb", "merges", "itself", "deep", "deeper", "junk", "many", "digits", "tag", "long"],
)
def test_hostile_files_are_refused_at_once_in_short_lines(text: str, told: str, tmp_path: Path) -> None:
    began = time.process_time()
    message = _refuse(tmp_path / "params.yaml", text)
    assert time.process_time() - began < 2
    assert told in message
    assert max(map(len, message.splitlines())) < 400 + len(str(tmp_path))


@pytest.mark.parametrize("value", ["010", "1:30", "0x10", "1_000"])
def test_numbers_that_readers_of_yaml_disagree_on_are_refused(value: str, tmp_path: Path) -> None:
    text = yaml.safe_dump(tiny_params()).replace("epochs: 3", f"epochs: {value}")
    assert f"defaults.train.epochs: got {value!r}" in _refuse(tmp_path / "params.yaml", text)


def _with_weights(tmp_path: Path, **run: Any) -> Path:
    params = copy.deepcopy(tiny_params())
    params["runs"]["plain"] |= {"train": {"epochs": 3}} | run
    params["runs"]["beside"] = dict(tiny_params()["runs"]["plain"])
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    return tmp_path / "params.yaml"


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ("nowhere.safetensors", "not there"),
        ("results/plain/0/ann.safetensors", "own result"),
        ("./results/../results/plain/0/ann.safetensors", "own result"),
        ("results/adaptive/0/ann.safetensors", "own result"),
        ("results/plain/0/snn.safetensors", "no run of this file makes"),
        ("results/beside/7/ann.safetensors", "no run of this file makes"),
        ("results/gone/0/ann.safetensors", "no run of this file makes"),
        ("results/tables/accuracy.csv", "no run of this file makes"),
        (".", "not there"),
        ("pickled.pth", "expected a whole safetensors file"),
        ("empty.safetensors", "expected a whole safetensors file"),
        ("cut.safetensors", "expected a whole safetensors file"),
    ],
)
def test_weights_are_looked_for_before_any_job(
    weights: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pickled.pth").write_bytes(b"\x80\x02}q\x00.")
    Path("empty.safetensors").touch()
    Path("cut.safetensors").write_bytes(save({"weight": torch.ones(64)})[:100])
    path = _with_weights(tmp_path, weights=weights)
    with pytest.raises(ParameterError, match=rf"runs.plain.weights: got .*{told}"):
        plannable(load_params(path), path)


def test_optional_runs_without_their_weights_are_left_out_and_told(tmp_path: Path) -> None:
    path = _with_weights(tmp_path, weights="nowhere.safetensors", optional=True)
    params, notes = plannable(load_params(path), path)
    assert list(params.runs) == ["beside"]
    assert "nowhere.safetensors" in notes[0]
    assert "plain, adaptive" in notes[0]


def test_dvc_which_leaves_no_run_out_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _with_weights(tmp_path, weights="nowhere.safetensors", optional=True)
    assert main([str(path)]) == 0
    assert main(["--every-run", str(path)]) == 1
    assert "bring the weights, or take the run out" in capsys.readouterr().err


def test_weights_of_another_run_are_awaited(tmp_path: Path) -> None:
    path = _with_weights(tmp_path, weights="results/beside/0/ann.safetensors")
    assert plannable(load_params(path), path)[1] == []


def test_the_command_tells_every_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _with_weights(tmp_path, levels=0)
    assert main([str(path)]) == 1
    assert "runs.plain.levels: got 0" in capsys.readouterr().err
    assert main([str(ROOT / "params.yaml")]) == 0


def test_a_new_parameter_is_one_class_attribute(tmp_path: Path) -> None:
    """What docs/extend.md says: from there it is checked, written for its stage, and on the page."""
    for part in ("pascal", "workflow/schemas", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "params.yaml", tmp_path)
    model = tmp_path / "pascal/pipeline/parameters/train.py"
    old = "    momentum: Fraction = 0.9\n"
    assert old in model.read_text()
    model.write_text(
        model.read_text().replace(old, old + '    clip_gradients: bool = Field(False, description="new")\n')
    )
    code = """
from pathlib import Path
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.weights import plannable
from pascal.pipeline.parameters.files import write_parts
write_parts(load_params(Path("params.yaml")))
"""
    for command in (["-m", "pascal.pipeline.parameters.pages"], ["-c", code]):
        subprocess.run([sys.executable, *command], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, check=True)
    assert (
        "| `defaults.train.clip_gradients` | true or false, new | *false* |"
        in (tmp_path / "docs/parameters.md").read_text()
    )
    stages = {path.stem for path in (tmp_path / "build/params").rglob("*.json") if "clip_gradients" in path.read_text()}
    assert stages == {"train", "retrain", "finetune"}
