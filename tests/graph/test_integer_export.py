"""The exported integers are all that is needed: NumPy alone reproduces the golden vectors from the files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import pascal
from benchmarks.networks import lively
from pascal import QCFS
from pascal.graph.integer.export import export_network, hex_words

Array = NDArray[Any]


class Block(nn.Module):
    """Stem, an identity shortcut, a projection with stride, pooling, readout: mixed levels."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.act1 = nn.Conv2d(3, 4, 3, padding=1), QCFS()
        self.conv1, self.act2 = nn.Conv2d(4, 4, 3, padding=1), QCFS()
        self.conv2, self.project, self.act3 = nn.Conv2d(4, 6, 3, 2, 1), nn.Conv2d(4, 6, 1, 2), QCFS()
        self.pool, self.flatten, self.fc = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.act1(self.stem(x))
        x = self.act2(self.conv1(x) + x)
        x = self.act3(self.conv2(x) + self.project(x))
        return self.fc(self.flatten(self.pool(x)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    images = torch.randn(2, 3, 6, 6)
    snn = pascal.convert(lively(Block(), images, [5, 3, 7]), engine="integer")
    folder = tmp_path_factory.mktemp("export")
    for name in ("first", "second"):
        export_network(snn, images, folder / name)  # type: ignore[arg-type]
    return folder


def convolve(x: Array, weight: Array, stride: int, padding: int) -> Array:
    """Integer convolution by its definition."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    size = (x.shape[2] - weight.shape[2]) // stride + 1
    out = np.zeros((len(x), len(weight), size, size), np.int64)
    for row, column in np.ndindex(size, size):
        y, z = row * stride, column * stride
        window = x[:, :, y : y + weight.shape[2], z : z + weight.shape[3]]
        out[:, :, row, column] = np.einsum("nchw,ochw->no", window, weight)
    return out


def simulate(calls: list[dict[str, Any]], arrays: dict[str, Array], pixels: Array) -> dict[str, Array]:
    """The network in NumPy integers, from the description alone."""
    values: dict[str, Array] = {}
    for call in calls:
        own = {key.rpartition("/")[2]: arrays[key] for key in arrays if key.startswith(f"{call['path']}/")}
        inputs = [values[name] for name in call["inputs"]]
        values[call["name"]] = _call(call["call"], call["options"], own, inputs, pixels)
        assert int(np.abs(values[call["name"]]).max()) <= call["largest"] < 2 ** (call["bits"] - 1)
    return values


def _call(name: str, options: dict[str, Any], own: dict[str, Array], inputs: list[Array], pixels: Array) -> Array:
    own = {key: value.astype(np.int64) for key, value in own.items()}
    if name == "placeholder":
        return pixels.astype(np.int64)
    if name == "IntegerWeighted" and own["weight"].ndim == 4:
        sums = convolve(inputs[0], own["weight"], options["stride"][0], options["padding"][0])
        return sums + own["constant"][None, :, None, None]
    if name == "IntegerWeighted":
        return inputs[0] @ own["weight"].T + own["constant"]
    if name == "IntegerAffine":
        return inputs[0] * own["multiplier"] + own["constant"]
    if name == "IntegerPASC":
        return np.clip((inputs[0] + own["threshold"] // 2) // own["threshold"], 0, own["levels"])
    if name == "add":
        return inputs[0] + inputs[1]
    if name == "AdaptiveAvgPool2d":  # the sum; `whole` multiplies the mean of a float simulator back
        return inputs[0].sum((2, 3), keepdims=True)
    return inputs[0].reshape(len(pixels), -1) if name == "Flatten" else inputs[0]


def test_numpy_reproduces_the_golden_vectors(folder: Path) -> None:
    description = json.loads((folder / "first/network.json").read_text())
    arrays, golden = (dict(np.load(folder / f"first/{name}.npz")) for name in ("network", "golden"))
    values = simulate(description["calls"], arrays, golden["pixels"])
    names = {call["path"]: call["name"] for call in description["calls"]}
    for path in ("act1", "act2", "act3"):
        assert np.array_equal(values[names[path]], golden[f"{path}/counts"])
        timesteps = np.arange(len(golden[f"{path}/trains"]))[:, None, None, None, None]
        assert np.array_equal(golden[f"{path}/trains"], timesteps < golden[f"{path}/counts"])
    assert np.array_equal(values[description["calls"][-1]["name"]], golden["logits"])
    assert len(description["logit_unit"]) == 1


def test_same_network_same_bytes(folder: Path) -> None:
    first = {path.relative_to(folder / "first"): path.read_bytes() for path in (folder / "first").rglob("*.*")}
    second = {path.relative_to(folder / "second"): path.read_bytes() for path in (folder / "second").rglob("*.*")}
    assert first == second
    assert len(first) > 20


def test_hex_is_the_array(folder: Path) -> None:
    weight = np.load(folder / "first/network.npz")["conv1/weight"]
    words = (folder / "first/hex/network/conv1.weight.hex").read_text().split()
    assert [int.from_bytes(bytes.fromhex(word), signed=True) for word in words] == weight.ravel().tolist()


def test_hex_words() -> None:
    assert hex_words(np.array([-1, 1], np.int8)) == b"ff\n01\n"
    assert hex_words(np.array([[-2], [258]], np.int32)) == b"fffffffe\n00000102\n"
    assert hex_words(np.array([True, False])) == b"01\n00\n"
