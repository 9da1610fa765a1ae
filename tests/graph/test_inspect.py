"""The pre-flight says what converts, what does not and what helps, and where tracing fails."""

import json

import pytest
import timm
import torch
import torchvision
from torch import Tensor, nn

import pascal


def test_a_network_that_converts_and_its_macs() -> None:
    network = pascal.build_network("resnet20").train()
    found = pascal.inspect(network)
    assert found.converts
    assert found.macs == sum(layer.macs for layer in pascal.measure(network, torch.randn(1, 3, 32, 32)))
    assert [activation.path for activation in found.activations] == list(pascal.get_levels(network))
    assert {call.property for call in found.covered} == {"linear", "structural"}
    assert network.training
    assert str(found).startswith("ResNet converts: 19 activations become neurons")
    assert json.loads(found.to_json())["macs"] == found.macs
    assert "<table>" in found._repr_html_()


def test_every_library_network_is_read_at_its_own_size() -> None:
    found = pascal.inspect(timm.create_model("vgg11_bn"))
    assert found.converts
    assert found.image_shape == (3, 224, 224)
    assert round(found.macs / 1e9, 2) == 7.61  # the usual figure for VGG-11
    example = torch.randn(2, 3, 64, 64)
    assert pascal.inspect(torchvision.models.resnet18(), example).image_shape == (3, 64, 64)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.lstm, self.fc = nn.Conv2d(3, 8, 3), nn.LSTM(8, 4, batch_first=True), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        output, _ = self.lstm(self.conv(x).relu().flatten(2).transpose(1, 2))
        return self.fc(output.mean(1))


@pytest.mark.parametrize(
    ("model", "path", "remedy"),
    [
        (nn.Sequential(nn.Conv2d(3, 8, 3), nn.LeakyReLU()), "1", "replace it by a ReLU"),
        (nn.Sequential(nn.Conv2d(3, 8, 3), nn.GELU()), "1", "replace it by a ReLU"),
        (nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.ReLU()), "1", "use batch norm"),
        (nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Softmax(1)), "2", "outside the network"),
        (Recurrent(), "lstm", "gates multiply activations"),
    ],
)
def test_remedies_help(model: nn.Module, path: str, remedy: str) -> None:
    found = pascal.inspect(model)
    assert not found.converts
    (refusal,) = [refusal for refusal in found.refusals if refusal.path == path]
    assert remedy in refusal.remedy
    assert refusal.remedy in str(found)


class Decides(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        if y.sum() > 0:
            y = y + 1
        return y.relu()


def test_tracing_says_where_it_fails() -> None:
    found = pascal.inspect(nn.Sequential(nn.Conv2d(3, 3, 1), Decides()))
    assert not found.converts
    assert found.failure is not None
    assert "in 1 (Decides), test_inspect.py:" in found.failure
    assert "`if y.sum() > 0:`" in found.failure


def test_nothing_to_convert() -> None:
    assert "has no ReLU" in str(pascal.inspect(nn.Sequential(nn.Conv2d(3, 4, 3))))
    with pytest.raises(pascal.PascalError, match="expected a network"):
        pascal.inspect("resnet20")  # type: ignore[arg-type]
