"""What the theorems do not cover is refused, all of it in one error, each with its path and remedy."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import pascal
from pascal import QCFS, PascalError


class Wraps(nn.Module):
    """conv → QCFS → the operation under test → fully connected."""

    def __init__(self, operation, inner: nn.Module | None = None) -> None:  # type: ignore[no-untyped-def]
        super().__init__()
        self.conv, self.act, self.fc = nn.Conv2d(3, 4, 3), QCFS(4), nn.LazyLinear(2)
        self.operation, self.inner = operation, inner

    def forward(self, x: Tensor) -> Tensor:
        x = self.act(self.conv(x))
        x = self.inner(x) if self.inner is not None else self.operation(x)
        return self.fc(x.flatten(1))


def ready(model: nn.Module) -> nn.Module:
    model.eval()
    with torch.no_grad():
        model(torch.zeros(1, 3, 8, 8))
    return model


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (nn.ReLU(), r"inner \(ReLU\): call pascal.quantize"),
        (nn.Sigmoid(), r"inner \(Sigmoid\)"),
        (nn.SiLU(), r"inner \(SiLU\): replace it by a ReLU"),
        (nn.GELU(), r"inner \(GELU\)"),
        (nn.Softmax(1), r"inner \(Softmax\): apply it to the logits"),
        (nn.LayerNorm([4, 6, 6]), r"inner \(LayerNorm\): use batch norm"),
        (nn.GroupNorm(2, 4), r"inner \(GroupNorm\): use batch norm"),
        (nn.BatchNorm2d(4, track_running_stats=False), "set track_running_stats=True"),
        (nn.Sequential(nn.Conv2d(4, 4, 1), nn.MaxPool2d(2)), r"inner\.1 \(MaxPool2d\): max pooling is exact on spikes"),
        (nn.Sequential(nn.AvgPool2d(2), nn.MaxPool2d(2)), r"inner\.1 \(MaxPool2d\)"),
        (nn.ConstantPad2d(1, 0.5), r"inner \(ConstantPad2d\)"),
        (nn.PReLU(), r"inner \(PReLU\)"),
    ],
)
def test_modules(module: nn.Module, message: str) -> None:
    with pytest.raises(PascalError, match=message):
        pascal.convert(ready(Wraps(None, module)))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (F.relu, r"relu \(relu\): call pascal.quantize"),
        (torch.sigmoid, r"\(sigmoid\)"),
        (lambda x: x * x, "a product of activations is not linear"),
        (lambda x: x * x.mean((2, 3), keepdim=True), "a product of activations is not linear"),
        (lambda x: 1 / (x + 1), r"\(truediv\)"),
        (lambda x: F.pad(x, (1, 1), value=2.0), "pad with zeros"),
        (lambda x: F.dropout(x), "dropout that stays on at inference is random"),
        (lambda x: x.abs(), r"\(abs\)"),
        (lambda x: x**2, r"\(pow\)"),
        (lambda x: F.max_pool2d(x + x.roll(1, 2), 2), "max pooling is exact on spikes only"),
        (lambda x: F.max_pool2d(torch.cat((x, 2 * x), 2), 2), "max pooling is exact on spikes only"),
        (lambda x: x if x.sum() > 0 else -x, "cannot be traced.*depends on the data"),
    ],
)
def test_functions(operation: object, message: str) -> None:
    with pytest.raises(PascalError, match=message):
        pascal.convert(ready(Wraps(operation)))


def test_all_offenders_stand_in_one_error() -> None:
    class Many(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.SiLU(), nn.Linear(4, 4), QCFS())

        def forward(self, x: Tensor) -> Tensor:
            return torch.softmax(self.block(x), -1)

    with pytest.raises(PascalError, match="3 calls") as caught:
        pascal.convert(Many().eval())
    lines = str(caught.value).splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["block.1", "block.3", "softmax"]


def test_inputs_and_outputs() -> None:
    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.act = nn.Linear(4, 4), QCFS()

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return self.act(self.fc(x)) + y

    class Constant(Pair):
        def forward(self, x: Tensor) -> tuple[Tensor, int]:  # type: ignore[override]
            return self.act(self.fc(x)), 3

    with pytest.raises(PascalError, match="must take one tensor, the images; its forward asks for x, y"):
        pascal.convert(Pair().eval())
    with pytest.raises(PascalError, match="must return logits, or a tuple, list or dict of tensors"):
        pascal.convert(Constant().eval())


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: F.max_pool2d(F.dropout2d(x, training=False), 2),
        lambda x: F.max_pool2d(F.max_pool2d(x, 2), 2),
        lambda x: F.adaptive_max_pool2d(x[:, :, 1:], 3),
        lambda x: torch.stack((x, -x, x / 3), 1).flatten(1, 2),
        lambda x: x.permute(0, 2, 3, 1).contiguous().unsqueeze(-1).squeeze(-1),
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        lambda x: torch.split(x, [1, 3], 1)[1].sum((2, 3)),
        lambda x: x.roll(1, 2).flip(3) - x.narrow(2, 0, x.shape[2]),
        lambda x: F.pixel_shuffle(x, 2),
        lambda x: 0.5 - x,
    ],
)
def test_allowed_operations_are_exact(operation: object) -> None:
    torch.manual_seed(0)
    ann = ready(Wraps(operation)).double()
    ann.act.threshold = 1.0
    batch = torch.randn(4, 3, 8, 8).double()
    snn = pascal.convert(ann)
    assert pascal.verify(ann, snn, [batch]).passed
    torch.testing.assert_close(snn(batch), ann(batch).detach(), rtol=0, atol=1e-12)
