"""Every ReLU of any torch module becomes a QCFS of its own."""

import pytest
import torch
import torchvision
from torch import Tensor, nn
from torch.nn import functional as F

import pascal
from pascal import QCFS, PascalError


class EveryKind(nn.Module):
    """ReLUs as module, shared module, function, method, in place, six, clamp; functional dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(10))
        self.relu, self.relu6, self.inplace = nn.ReLU(), nn.ReLU6(), nn.ReLU(inplace=True)
        self.hard = nn.Hardtanh(0, 4)

    def forward(self, x: Tensor) -> Tensor:
        calls = (self.relu, self.relu, self.relu6, self.inplace, F.relu, torch.relu, F.relu6, self.hard)
        for layer, call in zip(self.layers, calls, strict=False):
            x = call(layer(x))
        x = self.layers[8](x).relu_()
        x = F.dropout(x, 0.25, self.training)
        return self.layers[9](x).clamp(min=0)


def test_every_kind() -> None:
    quantized = pascal.quantize(EveryKind(), levels=3, threshold=2.0)
    layers = pascal.get_levels(quantized)
    assert list(layers) == [
        "relu",
        "relu_2",
        "relu6",
        "inplace",
        *(f"relu_{n}" for n in (3, 4, 5)),
        "hard",
        "relu_6",
        "relu_7",
    ]
    assert set(layers.values()) == {3}
    modules = [m for m in quantized.modules() if isinstance(m, QCFS)]
    assert len(modules) == 10
    assert all(m.threshold.item() == 2.0 for m in modules)
    assert not [m for m in quantized.modules() if isinstance(m, nn.ReLU | nn.ReLU6 | nn.Hardtanh)]


def test_it_computes_the_relu_network_at_many_levels() -> None:
    torch.manual_seed(0)
    model = torchvision.models.resnet18(num_classes=4).double().eval()
    quantized = pascal.quantize(model, levels=2**20, threshold=64.0)
    images = torch.randn(2, 3, 32, 32).double()
    torch.testing.assert_close(quantized(images), model(images), rtol=1e-3, atol=1e-3)


def test_the_model_itself_is_left_alone() -> None:
    model = EveryKind()
    pascal.quantize(model)
    assert isinstance(model.relu, nn.ReLU)
    assert model.training


def test_training_mode_dropout_and_batch_norm_stay_alive() -> None:
    import timm

    torch.manual_seed(0)
    model = timm.create_model("repvgg_a0", num_classes=3)  # its batch norms call the function
    quantized = pascal.quantize(model)
    assert quantized.training
    before = quantized.get_submodule("stem.conv_kxk.bn").running_mean.clone()
    images = torch.randn(4, 3, 32, 32)
    quantized(images).sum().backward()
    assert not torch.equal(before, quantized.get_submodule("stem.conv_kxk.bn").running_mean)

    dropping = pascal.quantize(EveryKind())
    x = torch.rand(64, 6) * 20
    assert not torch.equal(dropping(x), dropping(x))
    dropping.eval()
    assert torch.equal(dropping(x), dropping(x))


def test_frozen_parts_stay_frozen() -> None:
    model = torchvision.models.resnet18(num_classes=3)
    model.bn1.eval()
    quantized = pascal.quantize(model)
    assert quantized.training
    assert not quantized.get_submodule("bn1").training
    assert quantized.get_submodule("layer1.0.bn1").training


def test_all_parameters_can_be_trained() -> None:
    quantized = pascal.quantize(torchvision.models.resnet18(num_classes=3), threshold=1.0)
    quantized(torch.randn(2, 3, 32, 32)).square().sum().backward()
    assert all(parameter.grad is not None for parameter in quantized.parameters())


def test_levels_by_list_and_by_name() -> None:
    quantized = pascal.quantize(EveryKind(), levels=list(range(1, 11)))
    assert list(pascal.get_levels(quantized).values()) == list(range(1, 11))
    pascal.set_levels(quantized, {"relu_2": 7})
    assert pascal.get_levels(quantized)["relu_2"] == 7
    assert pascal.get_levels(quantized)["relu"] == 1


def test_levels_follow_the_forward_order_not_the_registration() -> None:
    class Reversed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.late, self.early = QCFS(1), QCFS(2)
            self.fc = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.late(self.fc(self.early(self.fc(x))))

    model = Reversed()
    pascal.set_levels(model, [5, 6])
    assert (model.early.levels, model.late.levels) == (5, 6)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([4] * 3, "got a list of 3, expected 19"),
        ({"stem.akt": 4}, r"unknown layers \['stem.akt'\]; the QCFS layers are"),
        (0, "levels of layer 'stem.act': got 0"),
        (-1, "got -1, expected a whole number >= 1"),
        (2.5, "got 2.5, expected a whole number >= 1"),
        ({"stem.act": "8"}, "got '8'"),
        ([8] * 18 + [0], r"levels of layer 'layer3\.2\.act2': got 0"),
    ],
)
def test_bad_levels_change_nothing(levels: object, message: str) -> None:
    network = pascal.build_network("resnet20", levels=8, width=0.25)
    with pytest.raises(PascalError, match=message):
        pascal.set_levels(network, levels)  # type: ignore[arg-type]
    assert set(pascal.get_levels(network).values()) == {8}


def test_what_cannot_be_replaced_is_named() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3), nn.SiLU(), nn.Linear(3, 3), nn.Tanh())
    with pytest.raises(PascalError, match="2 calls") as caught:
        pascal.quantize(model)
    assert "3 (SiLU)" in str(caught.value)
    assert "5 (Tanh)" in str(caught.value)
    with pytest.raises(PascalError, match="no ReLU to replace"):
        pascal.quantize(nn.Sequential(nn.Linear(3, 3)))
