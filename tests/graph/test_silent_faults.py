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
from pascal.graph.observe import Observation
from pascal.graph.outputs import Outputs

relu = F.relu


class Net(nn.Module):
    """Two convolutions, a batch norm and a readout around the body under test."""

    def __init__(self, body) -> None:  # type: ignore[no-untyped-def]
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.bn, self.act, self.body = nn.BatchNorm2d(4), nn.ReLU(inplace=True), body
        self.register_buffer("constant", torch.randn(1, 4, 8, 8))

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


def module_in_place(net: Net, x: Tensor) -> Tensor:
    x = net.c1(x)
    y = net.c2(net.act(x))
    return relu(y + x)


def narrow_written(net: Net, x: Tensor) -> Tensor:
    y = relu(net.c1(x))
    y.narrow(1, 0, 2).copy_(y.narrow(1, 2, 2))
    y.select(1, 1).zero_()
    y.transpose(2, 3).mul_(2)
    return relu(net.c2(y))


def buffer_beside_spikes(net: Net, x: Tensor) -> Tensor:
    y = relu(net.c1(x))
    return torch.cat([y, net.constant.expand(x.shape[0], -1, -1, -1)], 1)


EXACT = [module_in_place, narrow_written, buffer_beside_spikes,
         unused_add, item_assignment, activation_in_place, activation_with_inplace, written_view, another_name,
         augmented_item, behind_autograd, constant_beside_spikes, constant_put, pool_then_activate, shape_checks,
         lambda n, x: F.threshold(n.c2(F.hardtanh(n.c1(x), 0, 6)), 0, 0),
         lambda n, x: torch.maximum(n.c1(x), torch.zeros_like(n.c1(x))),
         lambda n, x: F.max_pool2d(F.interpolate(relu(n.c1(x)), scale_factor=2), 3),
         lambda n, x: relu(n.c1(x)).amax(1, keepdim=True),
         lambda n, x: torch.einsum("nchw,cd->ndhw", relu(n.c1(x)), n.c1.weight[:, :, 0, 0]),
         lambda n, x: torch.lerp(relu(n.c1(x)), n.c2(relu(n.c1(x))), 0.3),
         lambda n, x: torch.rsub(relu(n.c1(x)), 1.0),
         lambda n, x: F.pad(relu(n.c1(x)), (1, 1, 1, 1), mode="circular"),
         lambda n, x: relu(n.c1(x)).max(1, keepdim=True)[0],
         lambda n, x: torch.max(n.c1(x), torch.tensor(0.0, dtype=x.dtype)),
         lambda n, x: n.c1(x).clamp(min=torch.zeros(1, dtype=x.dtype)),
         lambda n, x: F.max_pool2d(input=relu(input=n.c1(x)), kernel_size=2),
         lambda n, x: relu(n.c1(x)).cumsum(2),
         lambda n, x: torch.where(n.constant > 0, relu(n.c1(x)), n.constant),
         lambda n, x: torch.addcdiv(n.constant, relu(n.c1(x)), n.constant.abs() + 1, value=-0.7),
         lambda n, x: F.interpolate(relu(n.c1(x)), size=(13, 11), mode="bicubic"),
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


def test_batch_norm_behind_a_fully_connected_layer_acts_on_the_second_axis() -> None:
    """Of (N, 6, 6) the layer's outputs are last and the norm's channels second: the two cannot be one."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3)).double().eval()
    net[1].running_mean.normal_()
    for shape in ((4, 6), (4, 6, 6)):
        batch = torch.randn(shape, dtype=torch.float64)
        ann = pascal.quantize(net, levels=5, threshold=1.0, example=batch)
        for engine in ("steps", "counts"):
            assert pascal.verify(ann, pascal.convert(ann, engine=engine), batch).passed
    with pytest.raises(PascalError, match="got 2 axes, the network was traced with 3"):
        pascal.convert(ann)(torch.randn(4, 6, dtype=torch.float64))


class Heads(Net):
    """Several outputs, in containers within containers."""

    def forward(self, x: Tensor) -> dict[str, object]:  # type: ignore[override]
        y = relu(self.c1(x))
        return {"out": self.c2(y), "aux": (y.mean((2, 3)), [x])}


def test_every_output_is_converted_and_compared() -> None:
    torch.manual_seed(0)
    ann = pascal.quantize(Heads(None).double().eval(), levels=3, threshold=1.0)
    for engine in ("steps", "counts", "integer"):
        snn = pascal.convert(ann, engine=engine)
        reference = snn.stepwise() if engine == "integer" else ann  # type: ignore[operator]
        certificate = pascal.verify(reference, snn, images())
        assert certificate.passed
        readouts = [layer.path for layer in certificate.layers if layer.kind == "readout"]
        assert readouts == ["c2 → output['out']", "relu → output['aux'][0]", "x → output['aux'][1][0]"]
        assert isinstance(snn(images())["aux"], tuple)  # type: ignore[call-overload]
    snn = pascal.convert(ann)
    snn.graph.get_submodule("c2").bias.data += 1e-9  # type: ignore[operator, union-attr]
    assert pascal.verify(ann, snn, images()).first_divergence == "c2 → output['out']"


class Bound:
    """A readout whose outputs may be a little off."""

    names = ("fc",)

    def bounds(self, images: Tensor, counts: dict[str, Tensor], roundoff: float) -> list[Tensor]:
        return [torch.full((len(images), 2), 1e-15, dtype=torch.float64)]


@pytest.mark.parametrize(("other", "ties", "mismatches"), [(2.0**-52, 1, 0), (1e-12, 0, 1)])
def test_a_tie_of_two_classes_is_told_as_one(other: float, ties: int, mismatches: int) -> None:
    """Which of two equal classes is the largest is up to rounding; of others it is not."""
    outputs = Outputs(Bound(), 2.0**-53, 1)  # type: ignore[arg-type]
    mine, theirs = (torch.tensor([[1.0, 1.0 + more]], dtype=torch.float64) for more in (0.0, other))
    outputs.compare(Observation(mine, {}), Observation(theirs, {}), images()[:1])
    assert (outputs.ties, outputs.predictions) == (ties, mismatches)


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
