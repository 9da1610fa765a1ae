"""Two processes with the same global batch follow the single process's loss curve."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from pascal.errors import PascalError
from pascal.files import read_tensors
from pascal.training.distributed import choose_device, processes, rank, total
from pascal.training.evaluate import evaluate
from tests.training.toy import CONFIG, ToyBatches, toy_network, train_together


def test_two_processes_train_as_one(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    train_together(tmp_path / "one")
    run_two_processes(tmp_path / "two", "together")

    one, two = (json.loads((tmp_path / name / "losses.json").read_text()) for name in ("one", "two"))
    assert len(one) == 20
    assert one[0][0] > 1.2 * one[-1][0]  # it does learn
    for (loss, accuracy), (shared_loss, shared_accuracy) in zip(one, two, strict=True):
        assert shared_loss == pytest.approx(loss, rel=1e-11)  # float64, another order of summation
        assert shared_accuracy == accuracy
    assert sorted(file.name for file in (tmp_path / "two").iterdir()) == ["losses.json", "rank0.safetensors"]
    assert_states_agree(tmp_path / "one", tmp_path / "two")


def run_two_processes(folder: Path, mode: str) -> None:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [*torchrun, "-m", "tests.training.toy", str(folder), mode]
    subprocess.run(command, check=True, capture_output=True, timeout=240)


def test_two_processes_validate_the_network_that_is_saved(tmp_path):
    """Each has batch statistics of its own; the accuracy of an epoch is that of the first one's network alone."""
    run_two_processes(tmp_path, "validated")
    told, alone = json.loads((tmp_path / "accuracies.json").read_text()), []
    network, validation = toy_network().double(), ToyBatches(4, 64, torch.float64)
    for epoch in range(1, len(told) + 1):
        network.load_state_dict(read_tensors(tmp_path / f"{epoch}.safetensors"))
        alone.append(evaluate(network, validation).accuracy)
    assert len(told) == CONFIG.epochs
    assert told == alone


def assert_states_agree(one: Path, two: Path) -> None:
    alone, together = (read_tensors(folder / "rank0.safetensors") for folder in (one, two))
    assert alone.keys() == together.keys()
    for name in alone.keys() - {"digest"}:  # of the bytes, which differ by rounding
        torch.testing.assert_close(together[name], alone[name], rtol=1e-10, atol=1e-12)


def test_a_process_on_its_own():
    assert (rank(), processes(), total([1.5, 2.0], torch.device("cpu"))) == (0, 1, [1.5, 2.0])
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda")


def test_bad_devices_are_named():
    with pytest.raises(PascalError, match="device: got 'gpu'"):
        choose_device("gpu")
    if not torch.cuda.is_available():
        with pytest.raises(PascalError, match="torch sees no GPU"):
            choose_device("cuda")
