"""Saved networks compute what they did, in any process, and files that are not ours are refused."""

import copy
import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

import pascal
from pascal.errors import PascalError
from pascal.graph.saving.file import to_bytes
from tests.graph.awkward import Awkward
from tests.graph.small import Branches

ENGINES: tuple[dict[str, Any], ...] = (
    {"engine": "steps"},
    {"engine": "counts"},
    {"engine": "integer"},
    {"neuron": "if", "timesteps": 3},
)


def trained(network: nn.Module) -> nn.Module:
    for number, module in enumerate(m for m in network.modules() if isinstance(m, pascal.QCFS)):
        module.levels, module.threshold = 1 + number % 4, 0.5 + 0.1 * number
    return network.eval()


def images(count: int = 3) -> Tensor:
    return torch.randn(count, 3, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=[Branches, Awkward])
def ann(request: pytest.FixtureRequest) -> nn.Module:
    torch.manual_seed(0)
    return trained(request.param())


@pytest.mark.parametrize("options", ENGINES, ids=lambda options: "-".join(map(str, options.values())))
def test_what_is_loaded_computes_the_same(ann: nn.Module, options: dict[str, Any], tmp_path: Path) -> None:
    snn, batch = pascal.convert(ann, **options), images()
    back = pascal.load(pascal.save(snn, tmp_path / "snn.safetensors"))
    (logits, counts), (found, own) = snn.record(batch), back.record(batch)
    assert torch.equal(found, logits)
    assert list(own) == list(counts)
    assert all(torch.equal(own[path], counts[path]) for path in counts)
    assert (back.levels, back.timesteps, back.neuron) == (snn.levels, snn.timesteps, snn.neuron)
    assert {k: v.tolist() for k, v in back.trains(batch)[1].items()} == {
        k: v.tolist() for k, v in snn.trains(batch)[1].items()
    }


@pytest.mark.parametrize("options", ENGINES, ids=lambda options: "-".join(map(str, options.values())))
def test_copies_and_torch_save(options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    snn, batch = pascal.convert(trained(Branches()), **options), images()
    expected, file = snn(batch), io.BytesIO()
    assert torch.equal(copy.deepcopy(snn)(batch), expected)
    torch.save(snn, file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=True)(batch), expected)


def test_an_ann_keeps_its_function_its_levels_and_can_be_trained_on(ann: nn.Module, tmp_path: Path) -> None:
    back = pascal.load(pascal.save(ann, tmp_path / "ann.safetensors"))
    assert torch.equal(back(images()), ann(images()))
    assert list(pascal.get_levels(back).values()) == list(pascal.get_levels(ann).values())
    back(images()).sum().backward()
    assert all(module.raw_threshold.grad is not None for module in back.modules() if isinstance(module, pascal.QCFS))


def test_the_same_network_gives_the_same_bytes_and_measures_the_same(tmp_path: Path) -> None:
    torch.manual_seed(0)
    snn = pascal.convert(trained(pascal.build_network("resnet20", width=0.25)), engine="counts")
    path = pascal.save(snn, tmp_path / "a.safetensors")
    back = pascal.load(path)
    pascal.save(back, tmp_path / "b.safetensors")
    assert path.read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    batch = torch.randn(2, 3, 32, 32)
    assert pascal.measure(back, batch) == pascal.measure(snn, batch)


def test_stepwise_integers_and_channels(tmp_path: Path) -> None:
    torch.manual_seed(0)
    ann = trained(Branches())
    first = next(module for module in ann.modules() if isinstance(module, pascal.QCFS))
    first.threshold = torch.linspace(0.5, 1.5, 8)  # the stem's channels
    snn = pascal.convert(ann, engine="counts")
    assert torch.equal(pascal.load(pascal.save(snn, tmp_path / "s"))(images()), snn(images()))
    stepwise = pascal.convert(trained(Branches()), engine="integer").stepwise()
    assert torch.equal(pascal.load(pascal.save(stepwise, tmp_path / "i"))(images()), stepwise(images()))


def test_another_process_needs_no_class(tmp_path: Path) -> None:
    torch.manual_seed(0)
    snn, file = pascal.convert(trained(Branches())), tmp_path / "snn.safetensors"
    pascal.save(snn, file)
    torch.save(images(), tmp_path / "images.pt")
    program = (
        "import sys, torch, pascal; snn = pascal.load(sys.argv[1]); "
        "torch.save(snn(torch.load(sys.argv[2], weights_only=True)), sys.argv[2]); assert 'tests' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, file, tmp_path / "images.pt"], check=True)
    assert torch.equal(torch.load(tmp_path / "images.pt", weights_only=True), snn(images()))


@pytest.fixture
def content() -> bytes:
    torch.manual_seed(0)
    return to_bytes(pascal.convert(trained(Branches())))


def test_damaged_and_foreign_files(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "snn.safetensors"
    for damaged, message in (
        (content[: len(content) // 2], "no whole safetensors file"),
        (content[:5], "no whole safetensors file"),
        (b"PK\x03\x04 a pickle", "no whole safetensors file"),
        (content[:-1] + bytes([content[-1] ^ 1]), "not what was saved"),
    ):
        file.write_bytes(damaged)
        with pytest.raises(PascalError, match=message) as error:
            pascal.load(file)
        assert str(file) in str(error.value)
    save_file({"weight": torch.ones(2)}, file)
    with pytest.raises(PascalError, match="numbers without a network"):
        pascal.load(file)
    with pytest.raises(PascalError, match="there is no such file"):
        pascal.load(tmp_path / "none")


def changed(content: bytes, change: Any) -> bytes:
    """The same file with another description and its digest made again."""
    from safetensors.torch import load, save

    from pascal.graph.saving.file import _digest

    numbers = load(content)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    description = json.loads(json.loads(header["pascal"])["description"])
    change(description)
    text = json.dumps(description)
    return save(numbers, {"pascal": json.dumps({"description": text, "sha256": _digest(text, numbers)})})


def _call(kind: str, target: str) -> Any:
    def change(description: dict[str, Any]) -> None:
        next(call for call in description["calls"] if call["kind"] == kind).update(target=target)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda description: description.update(version=2), "version 2 of the format, this pascal reads 1"),
        (_call("call_function", "os:system"), "os:system"),
        (_call("call_function", "torch:from_file"), "from_file"),
        (_call("call_method", "numpy"), "numpy"),
        (lambda description: description["modules"]["stem"].update({"class": "Transfer"}), "Transfer"),
        (lambda description: description["modules"]["stem"].update(settings=[["a", 1]]), "stem: Conv2d"),
    ],
)
def test_a_file_runs_nothing_but_networks(content: bytes, change: Any, message: str, tmp_path: Path) -> None:
    file = tmp_path / "snn.safetensors"
    file.write_bytes(changed(content, change))
    with pytest.raises(PascalError, match=message):
        pascal.load(file)


def test_the_file_is_what_the_digest_says(content: bytes) -> None:
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]["pascal"]
    assert len(json.loads(header)["sha256"]) == hashlib.sha256().digest_size * 2


def test_what_cannot_be_saved_says_so(tmp_path: Path) -> None:
    with pytest.raises(PascalError, match="expected a network"):
        pascal.save("snn", tmp_path / "x")  # type: ignore[arg-type]
    with pytest.raises(PascalError, match="cannot be converted"):
        pascal.save(nn.Sequential(nn.Linear(3, 3), nn.Sigmoid()), tmp_path / "x")
    assert not (tmp_path / "x").exists()
