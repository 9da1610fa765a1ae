"""The commands: exit codes, certificates, messages, the road from a name to a figure."""

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
from pascal.cli import audit
from pascal.cli import verify as verify_command
from pascal.files import write_tensors
from pascal.training import weights

DIGITS = ("--dataset", "digits")


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
    def faulty(ann: nn.Module, engine: str, *_: object) -> nn.Module:
        snn = pascal.convert(ann, engine=engine)
        snn.graph.get_submodule("layer1.0.act1").levels = 1
        return snn

    monkeypatch.setattr(verify_command, "convert", faulty)
    assert verify(network_file) == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--width", "0.5"), "found nothing that fits"),
        (("--network", "resnet21"), "network: got 'resnet21'"),
        (("--images", "0"), "images: got 0"),
        (("--engine", "quantum"), "choose from 'steps', 'counts', 'integer'"),
        (("--device", "tpu7"), "device: got 'tpu7'"),
        (("--dataset", "mnist"), "choose from 'cifar10'"),
    ],
)
def test_bad_input_exits_with_2(
    network_file: Path, more: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(network_file, *more) == 2
    told = capsys.readouterr().err
    assert message in told
    assert len(told.splitlines()) <= 4


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
    monkeypatch.setattr(audit, "audit_networks", dict)
    monkeypatch.setattr(audit, "audit_rows", lambda networks, measured: [{"quantity": "MACs"}])
    assert cli.main(["audit", "--csv", str(tmp_path / "new" / "audit.csv")]) == 0
    assert (tmp_path / "new" / "audit.csv").exists()
    assert cli.main(["audit", "--csv", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_the_installed_command_runs() -> None:
    command = Path(sys.executable).with_name("pascal")
    done = subprocess.run([command, "--help"], capture_output=True, text=True, env={**os.environ, "COLUMNS": "120"})
    assert done.returncode == 0
    assert "verify" in done.stdout


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself_and_refuses_what_it_does_not_know(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([name, "--help"]) == 0
    told = capsys.readouterr().out
    assert cli.COMMANDS[name].split()[-1] in told
    assert "--json" in told
    assert cli.main([name, "--no-such-option"]) == 2
    told = capsys.readouterr().err
    assert "--help" in told
    assert len(told.splitlines()) == 1


def test_version_and_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("pascal ")
    assert cli.main([]) == 2
    assert cli.main(["fly"]) == 2
    assert "inspect" in capsys.readouterr().err


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    capsys.readouterr()
    assert cli.main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_road_from_a_name_to_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    found = run_json(capsys, "inspect", "resnet20", "--width", "0.25")
    assert found["converts"]
    made = run_json(capsys, "quantize", "resnet20", "--width", "0.25", "--levels", "4", "--out", "q.safetensors")
    assert set(made["levels"].values()) == {4}
    options = ("--images", "64", "--method", "percentile", "--out", "c.safetensors")
    assert run_json(capsys, "calibrate", "q.safetensors", *DIGITS, *options)["images"] == 64
    options = ("--images", "32", "--budget", "60%", "--values", "4", "2", "--out", "p.safetensors")
    planned = run_json(capsys, "plan", "c.safetensors", *DIGITS, *options)
    assert set(planned["levels"].values()) <= {4, 2}
    run_json(capsys, "convert", "p.safetensors", "--engine", "counts", "--out", "s.safetensors")
    few = (*DIGITS, "--images", "10")
    certificate = run_json(capsys, "verify", "p.safetensors", "--snn", "s.safetensors", *few)
    assert certificate["passed"]
    right = run_json(capsys, "evaluate", "s.safetensors", *few)
    assert right == run_json(capsys, "evaluate", "p.safetensors", *few)
    spent = run_json(capsys, "cost", "s.safetensors", *few)
    assert spent["images"] == 10
    simulated = run_json(capsys, "simulate", "s.safetensors", *DIGITS, "--images", "1")
    assert simulated["summary"]["cycles"] > 0
    for figure in ("levels", "equivalence", "spikes", "neuron"):
        files = run_json(capsys, "plot", figure, "p.safetensors", *few, "--out", f"figures/{figure}")["files"]
        assert all(Path(file).stat().st_size > 1000 for file in files)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("inspect", "resnet21"), "network: got 'resnet21'"),
        (("inspect", "timm:resnet5000"), "expected a network that timm knows"),
        (("evaluate", "none.pth", "--network", "vgg16"), "none.pth: there is no such file"),
        (("convert", "vgg16", "--width", "0.0625", "--out", "x.pt"), "--out: got x.pt"),
        (("plot", "levels"), "model: got none"),
        (("cost", "vgg16", "--accelerator", "tpu"), "choose from 'loas', 'sparten'"),
        (("plan", "vgg16"), "--budget"),
        (("quantize", "vgg16"), "--out"),
        (("convert", "vgg16", "--network", "resnet20", "--out", "x.safetensors"), "--network: got resnet20 beside"),
    ],
)
def test_bad_arguments(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(list(arguments)) == 2
    assert message in capsys.readouterr().err


def test_files_that_are_something_else(network_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", str(network_file), *DIGITS]) == 2
    assert "is no network that pascal saved; if it holds weights, say whose by --network" in capsys.readouterr().err
    snn = network_file.with_name("snn.safetensors")
    pascal.save(pascal.convert(pascal.build_network("resnet20", width=0.25).eval()), snn)
    assert cli.main(["verify", str(snn), *DIGITS]) == 2
    assert "is a spiking network already" in capsys.readouterr().err
    assert cli.main(["verify", str(network_file), "--network", "resnet20", "--width", "0.25", "--check", "none"]) == 2


def test_a_missing_file_is_noticed_before_anything_is_downloaded(tmp_path: Path) -> None:
    arguments = ["evaluate", "none.safetensors", "--network", "vgg16", "--data", str(tmp_path), "--dataset", "cifar10"]
    assert cli.main(arguments) == 2
    assert not list(tmp_path.iterdir())


def test_a_network_that_does_not_convert_is_told_in_few_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["inspect", "timm:test_vit"]) == 1
    assert "does not convert yet" in capsys.readouterr().out
    assert cli.main(["convert", "timm:test_vit", "--out", str(tmp_path / "v.safetensors")]) == 2
    assert len(capsys.readouterr().err.splitlines()) <= 5
