"""Constructions that a trace can silently lose: each is exact in all engines, or refused by name."""

import copy
import io

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, prune

import pascal
from pascal import QCFS, PascalError

relu = F.relu


class Net(nn.Module):
    """Two convolutions, a batch norm and a readout around the body under test."""

    def __init__(self, body) -> None:  # type: ignore[no-untyped-def]
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.bn, self.body = nn.BatchNorm2d(4), body

    def forward(self, x: Tensor) -> Tensor:
        return self.body(self, x).flatten(2).mean(2)


def unused_add(net: Net, x: Tensor) -> Tensor:
    y = relu(net.c1(x))
    z = relu(net.c2(y))
    z.add_(y)
    return z


def item_assignment(net: Net, x: Tensor) -> Tensor:
    y = relu(net.c1(x))
    y[:, 0] = net.c2(y)[:, 1]
    return relu(y)


def activation_in_place(net: Net, x: Tensor) -> Tensor:
    x = net.c1(x)
    y = net.c2(F.relu_(x))
    return relu(y + x)


def activation_with_inplace(net: Net, x: Tensor) -> Tensor:
    x = net.c1(x)
    y = net.c2(F.relu(x, inplace=True))
    return relu(y + x)


def written_view(net: Net, x: Tensor) -> Tensor:
    x = net.c1(x)
    x.view(x.size(0), -1).mul_(2)
    return relu(x)


def another_name(net: Net, x: Tensor) -> Tensor:
    y = x = net.c1(x)
    x += 1
    return relu(y)


def augmented_item(net: Net, x: Tensor) -> Tensor:
    y = relu(net.c1(x))
    y[:, 0] += y[:, 1]
    return relu(net.c2(y))


def behind_autograd(net: Net, x: Tensor) -> Tensor:
    y = relu(net.c1(x))
    y.detach().mul_(3)
    return relu(net.c2(y))


def constant_beside_spikes(net: Net, x: Tensor) -> Tensor:
    y = relu(net.c1(x))
    return torch.cat([y, torch.full_like(y, 0.37)], 1)


def constant_put(net: Net, x: Tensor) -> Tensor:
    y = relu(net.c1(x))
    out = torch.zeros_like(y)
    out[:, :2] = y[:, 2:]
    out[:, 2:] = 1.5
    return out


def pool_then_activate(net: Net, x: Tensor) -> Tensor:
    return relu(F.max_pool2d(net.c1(x), 2))


def shape_checks(net: Net, x: Tensor) -> Tensor:
    assert x.ndim == 4
    assert isinstance(x, Tensor)
    if x.shape[-1] < 4:
        raise ValueError("too small")
    return relu(net.c1(x))


EXACT = [unused_add, item_assignment, activation_in_place, activation_with_inplace, written_view, another_name,
         augmented_item, behind_autograd, constant_beside_spikes, constant_put, pool_then_activate, shape_checks,
         lambda n, x: F.threshold(n.c2(F.hardtanh(n.c1(x), 0, 6)), 0, 0),
         lambda n, x: torch.maximum(n.c1(x), torch.zeros_like(n.c1(x))),
         lambda n, x: F.max_pool2d(F.interpolate(relu(n.c1(x)), scale_factor=2), 3),
         lambda n, x: relu(n.c1(x)).amax(1, keepdim=True),
         lambda n, x: torch.einsum("nchw,cd->ndhw", relu(n.c1(x)), n.c1.weight[:, :, 0, 0]),
         lambda n, x: torch.lerp(relu(n.c1(x)), n.c2(relu(n.c1(x))), 0.3),
         lambda n, x: torch.rsub(relu(n.c1(x)), 1.0),
         lambda n, x: F.pad(relu(n.c1(x)), (1, 1, 1, 1), mode="circular"),
         lambda n, x: F.conv_transpose2d(relu(n.c1(x)), n.c2.weight, n.c2.bias, stride=2)]  # fmt: skip


def examine(net: nn.Module, batch: Tensor) -> None:
    """The quantised network is the network at many levels, and every engine is exact or refuses."""
    fine = pascal.quantize(net, levels=2**20, threshold=64.0).eval()
    torch.testing.assert_close(fine(batch), net(batch), rtol=1e-3, atol=1e-3)
    pascal.set_levels(fine, [3, 5, 2][: len(pascal.get_levels(fine))])
    for module in fine.modules():
        if isinstance(module, QCFS):
            module.threshold = 1.0
    for engine in ("steps", "counts"):
        assert pascal.verify(fine, pascal.convert(fine, engine=engine), [batch]).passed
    snn = pascal.convert(fine, engine="integer")
    try:
        counts = snn.record(batch)[1]
    except PascalError:
        return
    stepwise = snn.stepwise().record(batch)[1]
    assert all(torch.equal(count, stepwise[path]) for path, count in counts.items())


def network(body) -> Net:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    return Net(body).double().eval().requires_grad_(False)


def images() -> Tensor:
    return torch.randn(3, 3, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("body", EXACT)
def test_exact(body: object) -> None:
    examine(network(body), images())


@pytest.mark.parametrize(
    "change",
    [
        lambda net: net.c2.register_forward_hook(lambda m, i, o: o * 2 + 1),
        lambda net: net.c2.register_forward_pre_hook(lambda m, i: (i[0] * 2 + 1,)),
        lambda net: net.register_forward_hook(lambda m, i, o: o * 2 + 1),
        lambda net: prune.l1_unstructured(net.c2, "weight", 0.5),
        lambda net: parametrizations.weight_norm(net.c2),
    ],
)
def test_hooks_and_parametrisations_count(change) -> None:  # type: ignore[no-untyped-def]
    net = network(lambda n, x: relu(n.bn(n.c2(relu(n.c1(x))))))
    change(net)
    examine(net.eval(), images())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda n, x: torch.div(relu(n.c1(x)), 0.3, rounding_mode="floor"), "rounding_mode='floor' is not linear"),
        (lambda n, x: relu(n.c1(x)) - relu(n.c1(x)).mean(0, keepdim=True), "other images of the batch"),
        (lambda n, x: torch.maximum(relu(n.c1(x)), relu(n.c2(relu(n.c1(x))))), "different steps"),
        (lambda n, x: F.max_pool2d(torch.cat([x[:, :1], relu(n.c1(x))[:, :1]], 2), 2), "different steps"),
        (lambda n, x: relu(n.c1(x)).sum(1, keepdim=True, dtype=torch.float32), "dtype"),
    ],
)
def test_refused(body: object, message: str) -> None:
    with pytest.raises(PascalError, match=message):
        pascal.quantize(network(body))


def test_what_only_training_does_is_not_lost_in_silence() -> None:
    class Auxiliary(Net):
        def forward(self, x: Tensor) -> Tensor:
            y = relu(self.c1(x))
            return relu(self.c2(y) + y).mean((2, 3)) if self.training else relu(self.c2(y)).mean((2, 3))

    with pytest.raises(PascalError, match="training would lose add"):
        pascal.quantize(Auxiliary(None))
    quantized = pascal.quantize(Auxiliary(None).eval())
    with pytest.raises(PascalError, match="training would lose add"):
        copy.deepcopy(quantized).train()


def test_integer_networks_are_copied_and_saved() -> None:
    net = pascal.quantize(network(unused_add), levels=4, threshold=1.0).eval()
    snn, batch = pascal.convert(net, engine="integer"), images()
    expected = snn(batch)
    assert torch.equal(copy.deepcopy(snn)(batch), expected)
    file = io.BytesIO()
    torch.save(snn, file)  # by the same protocol as the copy, which computes the same; no pickle is read back here
    assert file.tell() > 0
