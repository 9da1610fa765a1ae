"""The examples as people run them, on a few real images."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkpoints import RELU_RESNET20, checkpoint_path, data_root

ROOT = Path(__file__).parents[1]


@pytest.mark.real
@pytest.mark.slow
def test_bring_your_own(tmp_path: Path) -> None:
    options = ["--levels", "4", "--epochs", "1", "--data", str(data_root()), "--images", "128"]
    command = [sys.executable, "-m", "examples.bring_your_own", str(checkpoint_path(RELU_RESNET20)), "own.json"]
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
