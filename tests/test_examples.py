"""The examples as people run them, on a few real images."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pascal
from benchmarks.checkpoints import RELU_RESNET20
from tests.checkpoints import checkpoint_path, data_root

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/bring_your_own.py"


@pytest.mark.real
@pytest.mark.slow
def test_own_network_with_fine_tuning(tmp_path: Path) -> None:
    options = ["--levels", "4", "--epochs", "1", "--data", str(data_root()), "--images", "128"]
    command = [sys.executable, "-m", "benchmarks.studies.own_network", str(checkpoint_path(RELU_RESNET20)), "own.json"]
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": ""}
    subprocess.run([*command, *options], cwd=tmp_path, env=environment, check=True, capture_output=True)
    record = json.loads((tmp_path / "own.json").read_text())
    assert record["certificate"]["images"] == record["test_images"] == 128
    assert record["certificate"]["count_mismatches"] == record["certificate"]["prediction_mismatches"] == 0
    assert record["accuracy"]["snn"] == record["accuracy"]["fine_tuned"]
    assert record["accuracy"]["calibrated"] > record["accuracy"]["quantized"] + 0.2
    by_rate, by_method = record["validation_accuracy_by_learning_rate"], record["validation_accuracy_by_calibration"]
    assert by_rate[str(record["learning_rate"])] == max(by_rate.values())
    assert by_method[record["calibration"]] == max(by_method.values())
    assert not any(word.startswith("/") for word in record["command"].split())
    assert len(list((tmp_path / "work/checkpoints").iterdir())) == 1


@pytest.mark.real
@pytest.mark.slow
def test_bring_your_own(tmp_path: Path) -> None:
    """Copied away from the repository, as people do with it."""
    options = ["--levels", "8", "--data", str(data_root()), "--images", "128", "--test", "200"]
    copy = shutil.copy(EXAMPLE, tmp_path)
    command = [sys.executable, copy, str(checkpoint_path(RELU_RESNET20)), *options]
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": ""}
    told = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout
    assert "97 tensors by order" in told
    assert "ridge: 128 images" in told
    assert "\nequal: 200 images" in told
    calibrated, spiking = re.findall(r"(?:calibrated|spiking) ([\d.]+)%", told)
    assert calibrated == spiking
    assert float(spiking) > 80
    assert pascal.load(tmp_path / "snn.safetensors").levels.keys() == set(re.findall(r"\n  (\S+act\d?) ", told))


def test_bring_your_own_knows_public_names_alone() -> None:
    tree = ast.parse(EXAMPLE.read_text())
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [module for module in imported if str(module).startswith("pascal")]
    used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {name.removeprefix("pascal.") for name in used if name.startswith("pascal.")} <= set(pascal.__all__)
    assert len(EXAMPLE.read_text().splitlines()) < 70


def test_examples_need_nothing_but_the_package() -> None:
    for path in (ROOT / "examples").glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not {name for name in modules if str(name).split(".")[0] in ("benchmarks", "tests")}, path
