"""The commands: exit codes, certificates, messages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
from torch import nn

import pascal
from pascal import cli
from pascal.files import write_tensors
from pascal.training import weights


@pytest.fixture
def network_file(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    network = pascal.build_network("resnet20", width=0.25, levels=3)
    for module in network.modules():
        if isinstance(module, pascal.QCFS):
            module.threshold = 1.0
    path = tmp_path / "ann.safetensors"
    write_tensors(path, weights(network))
    return path


def verify(path: Path, *more: str) -> int:
    arguments = ["verify", str(path), "--network", "resnet20", "--width", "0.25", "--dataset", "digits"]
    return cli.main([*arguments, "--images", "20", *more])


def test_verify_passes_and_writes_the_certificate(network_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = network_file.with_name("out") / "verify.json"
    assert verify(network_file, "--json", str(target)) == 0
    certificate = json.loads(target.read_text())
    assert certificate["passed"] is True
    assert certificate["images"] == 20
    assert certificate["dtype"] == "float64"
    assert capsys.readouterr().out.startswith("equal: 20 images")


def test_verify_fails_on_a_wrong_snn(network_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(ann: nn.Module, engine: str) -> nn.Module:
        snn = pascal.convert(ann, engine=engine)
        snn.graph.get_submodule("layer1.0.act1").levels = 1
        return snn

    monkeypatch.setattr(cli, "convert", faulty)
    assert verify(network_file) == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--width", "0.5"), "does not fit resnet20 of width 0.5"),
        (("--network", "resnet21"), "network: got 'resnet21'"),
        (("--images", "0"), "images: got 0"),
        (("--engine", "quantum"), "engine: got 'quantum'"),
    ],
)
def test_bad_input_exits_with_2(
    network_file: Path, more: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(network_file, *more) == 2
    assert message in capsys.readouterr().err


def test_missing_and_damaged_files(network_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(network_file.with_name("none.safetensors")) == 2
    assert "none.safetensors" in capsys.readouterr().err
    network_file.write_bytes(network_file.read_bytes()[:1000])
    assert verify(network_file) == 2
    assert "ann.safetensors" in capsys.readouterr().err


def test_audit_prints_every_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", "--csv", str(tmp_path / "audit.csv"), "--layers", str(tmp_path / "layers")]) == 0
    printed = capsys.readouterr().out
    table = pd.read_csv(tmp_path / "audit.csv")
    assert len(printed.splitlines()) == len(table) + 1
    wrong = table[(table["quantity"] == "MACs") & (table["network"] == "resnet18") & (table["dataset"] == "cifar10")]
    assert wrong["equation"].astype(int).tolist() == [555_422_720]  # the paper prints 217,584,640
    layers = pd.read_csv(tmp_path / "layers" / "vgg16-imagenet.csv")
    assert layers["macs"].tolist()[-1] == 15_470_264_320  # the appendix's total


def test_audit_makes_the_folder_and_says_what_it_cannot_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "audit_networks", dict)
    monkeypatch.setattr(cli, "audit_rows", lambda networks: [{"quantity": "MACs"}])
    assert cli.main(["audit", "--csv", str(tmp_path / "new" / "audit.csv")]) == 0
    assert (tmp_path / "new" / "audit.csv").exists()
    assert cli.main(["audit", "--csv", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_the_installed_command_runs() -> None:
    command = Path(sys.executable).with_name("pascal")
    done = subprocess.run([command, "--help"], capture_output=True, text=True, env={**os.environ, "COLUMNS": "120"})
    assert done.returncode == 0
    assert "verify" in done.stdout
