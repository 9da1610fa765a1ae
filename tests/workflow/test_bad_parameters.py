"""Bad parameters stop before any job, and the message names the key's path, the value and what was expected."""

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from lib.errors import ParameterError
from lib.params import load_params

from pascal.neurons.qcfs import MOST_LEVELS
from tests.workflow.bad_parameters import FAULTS, Fault
from tests.workflow.workspace import ROOT, SCHEMA, tiny_params


def _refuse(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(ParameterError) as caught:
        load_params(path, SCHEMA)
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
    assert load_params(tmp_path / "params.yaml", SCHEMA)["runs"]


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
        load_params(tmp_path / "params.yaml", SCHEMA)


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
    assert load_params(tmp_path / "params.yaml", SCHEMA)["runs"]


def test_weights_as_they_are_need_no_images_to_choose_by(tmp_path: Path) -> None:
    params = copy.deepcopy(tiny_params())
    params["datasets"]["digits"]["validation"] = 0
    params["runs"] = {"plain": params["runs"]["plain"] | {"weights": "w", "train": {"epochs": 0, "selection": "best"}}}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params))
    assert load_params(tmp_path / "params.yaml", SCHEMA)["runs"]


def test_the_schema_knows_the_most_levels() -> None:
    assert yaml.safe_load(SCHEMA.read_text())["$defs"]["level"]["maximum"] == MOST_LEVELS


def test_parameters_are_checked_before_torch_is_imported() -> None:
    code = "import sys, pathlib, lib.params as p; p.load_params(*map(pathlib.Path, sys.argv[1:])); "
    command = [sys.executable, "-c", code + "assert 'torch' not in sys.modules", ROOT / "params.yaml", SCHEMA]
    subprocess.run(command, cwd=ROOT / "workflow" / "scripts", check=True)


@pytest.mark.parametrize("file", ["params.yaml", "workflow/presets/paper.yaml", "workflow/presets/cifar10-small.yaml"])
def test_shipped_parameters_are_good(file: str) -> None:
    assert load_params(ROOT / file, SCHEMA)["runs"]


def test_numbers_without_a_point_are_numbers(tmp_path: Path) -> None:
    text = yaml.safe_dump(tiny_params()).replace("weight_decay: 0.0005", "weight_decay: 5e-4")
    (tmp_path / "params.yaml").write_text(text)
    assert load_params(tmp_path / "params.yaml", SCHEMA)["defaults"]["train"]["weight_decay"] == 5e-4
