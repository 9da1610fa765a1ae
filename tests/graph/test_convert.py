"""Theorems 3.3 and 3.6: whole networks, stepwise, against their ANN."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

import pascal
from benchmarks.networks import lively
from pascal import QCFS, PascalError
from pascal.graph.integer import Pixels
from tests.graph.small import Branches


def images(seed: int = 0, size: int = 8, batch: int = 3) -> Tensor:
    return torch.randn(batch, 3, size, size, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@given(levels=st.lists(st.integers(1, 9), min_size=6, max_size=6), seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_theorem_3_6_branches_with_any_levels(levels: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    ann = lively(Branches(), images(seed), levels)
    verification = pascal.verify(ann, pascal.convert(ann), [images(seed), images(seed + 1)])
    assert verification.passed
    assert verification.images == 6
    assert len(verification.layers) == 7  # the readout is one of them


def test_theorem_3_3_currents_sum_to_the_preactivation() -> None:
    torch.manual_seed(0)
    batch = images()
    ann = lively(
        nn.Sequential(nn.Conv2d(3, 4, 3), QCFS(), nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6), QCFS()), batch, [5, 3]
    )
    ann[3].running_mean.normal_()
    ann[3].bias.data.normal_()
    snn = pascal.convert(ann)
    _, trains = snn.trains(batch)
    conv = snn.graph.get_submodule("2")
    currents = torch.stack([conv(spikes * ann[1].step) for spikes in trains["1"]])
    assert currents.shape[0] == 5
    torch.testing.assert_close(currents.sum(0), ann[3](ann[2](ann[1](ann[0](batch)))), rtol=0, atol=1e-13)


@pytest.mark.parametrize("pool", ["max", "avg"])
@pytest.mark.parametrize("name", ["vgg16", "resnet18"])
def test_own_networks_with_both_poolings(name: str, pool: str) -> None:
    torch.manual_seed(1)
    network = pascal.build_network(name, width=0.125, pool=pool)
    count = len(pascal.get_levels(network))
    ann = lively(network, images(size=32), [1 + n % 5 for n in range(count)])
    assert pascal.verify(ann, pascal.convert(ann), [images(size=32)]).passed


def test_spikes_are_binary_and_trains_as_long_as_levels() -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    logits, trains = pascal.convert(ann).trains(images())
    assert {path: len(train) for path, train in trains.items()} == pascal.get_levels(ann)
    assert all(train.dtype == torch.bool for train in trains.values())
    torch.testing.assert_close(logits, ann(images()).detach(), rtol=0, atol=1e-12)


def test_the_ann_is_left_alone() -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    before = {name: value.clone() for name, value in ann.state_dict().items()}
    pascal.convert(ann)(images())
    assert all(torch.equal(value, before[name]) for name, value in ann.state_dict().items())


def test_images_are_left_alone() -> None:
    class Shifts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.act, self.fc = nn.Conv2d(3, 4, 3), QCFS(), nn.Linear(4 * 36, 3)

        def forward(self, x: Tensor) -> Tensor:
            x -= 0.25
            return self.fc(self.act(self.conv(x)).flatten(1))

    snn = pascal.convert(Shifts().double().eval())
    batch = images()
    snn(batch)
    assert torch.equal(batch, images())


def test_the_snn_does_not_lean_on_the_anns_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    expected = ann(images()).detach()
    snn = pascal.convert(ann)

    def forbidden(*_: object) -> Tensor:
        raise AssertionError("the SNN used the ANN's formula")

    for name in ("qcfs.qcfs_count", "straight_through.clipped_floor"):
        monkeypatch.setattr(f"pascal.neurons.{name}", forbidden)
    with pytest.raises(AssertionError, match="the ANN's formula"):
        ann(images())
    torch.testing.assert_close(snn(images()), expected, rtol=0, atol=1e-12)


def test_a_shared_qcfs_becomes_two_neurons() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.c, self.act = nn.Linear(4, 6), nn.Linear(6, 6), nn.Linear(6, 2), QCFS(3, 1.0)

        def forward(self, x: Tensor) -> Tensor:
            return self.c(self.act(self.b(self.act(self.a(x)))))

    ann = Twice().double().eval()
    verification = pascal.verify(ann, pascal.convert(ann), [torch.randn(7, 4).double()])
    assert verification.passed
    assert [layer.path for layer in verification.layers] == ["act", "act_2", "c"]


def test_functional_layers_and_weight_standardisation() -> None:
    class Functional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.randn(6, 3, 3, 3)), nn.Parameter(torch.randn(6))
            self.gain = nn.Parameter(torch.randn(6, 1, 1))
            self.act1, self.act2 = QCFS(), QCFS()
            self.head = nn.Parameter(torch.randn(5, 6))
            self.second = nn.Parameter(torch.randn(6, 6, 1, 1))

        def forward(self, x: Tensor) -> Tensor:
            weight = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
            x = self.act1(F.conv2d(x, weight, self.bias, padding=1))
            x = self.act2(F.conv2d(x * self.gain, self.second, self.bias) * 2 + 0.125)
            return F.linear(x.mean((2, 3)), self.head, bias=self.bias[:5])

    torch.manual_seed(3)
    ann = lively(Functional(), images(), [3, 7])
    snn = pascal.convert(ann)
    assert pascal.verify(ann, snn, [images()]).passed
    assert [layer.macs for layer in pascal.measure(ann, [images()])] == [6 * 27 * 64, 36 * 64, 30]


def test_plain_if_gives_every_time_in_one_run() -> None:
    ann = lively(pascal.build_network("resnet20", width=0.25), images(size=16), [4] * 19)
    whole = pascal.convert(ann, neuron="if", timesteps=6).logits_over_time(images(size=16))
    for timesteps in (1, 2, 4, 6):
        snn = pascal.convert(ann, neuron="if", timesteps=timesteps)
        torch.testing.assert_close(snn(images(size=16)), whole[timesteps - 1], rtol=0, atol=1e-12)


def test_plain_if_approaches_the_ann_and_pasc_is_there() -> None:
    ann = lively(pascal.build_network("resnet20", width=0.25), images(size=16), [4] * 19)
    expected = ann(images(size=16)).detach()
    over_time = pascal.convert(ann, neuron="if", timesteps=64).logits_over_time(images(size=16))
    errors = (over_time - expected).abs().amax((1, 2))
    pasc_error = (pascal.convert(ann)(images(size=16)) - expected).abs().max()
    assert pasc_error < 1e-12
    assert errors[3] > 100 * pasc_error
    assert errors[63] < errors[0]


def test_plain_if_names_maxima_as_inexact() -> None:
    ann = lively(pascal.build_network("vgg16", width=0.125), images(size=32), [4] * 15)
    assert pascal.convert(ann, neuron="if", timesteps=2).inexact == tuple(f"features.pool{n}" for n in range(1, 6))


def test_float32_and_float64_follow_the_ann() -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    assert pascal.convert(ann)(images()).dtype == torch.float64
    assert pascal.convert(ann.float())(images().float()).dtype == torch.float32


def test_memory_holds_spikes_not_currents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored trains are boolean in a chain, and freed behind their last reader."""
    ann = lively(pascal.build_network("vgg16", width=0.125), images(size=32), [8] * 15)
    snn = pascal.convert(ann)
    alive: list[int] = []
    monkeypatch.setattr(
        type(snn.graph.get_submodule("features.act1_1")),
        "forward",
        _counting(type(snn.graph.get_submodule("features.act1_1")).forward, alive),
    )
    snn(images(size=32))
    assert max(alive) <= 2  # the train being read and the one being made


def _counting(forward, alive: list[int]):  # type: ignore[no-untyped-def]
    import weakref

    made: list[weakref.ref[Tensor]] = []

    def counted(self, currents):  # type: ignore[no-untyped-def]
        spikes = forward(self, currents)
        assert spikes.dtype == torch.bool
        made.append(weakref.ref(spikes))
        alive.append(sum(ref() is not None for ref in made))
        return spikes

    return counted


def test_save_and_load() -> None:
    from safetensors.torch import load, save

    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    other = lively(Branches(), images(1), [4, 2, 3, 1, 8, 5])
    source, target = pascal.convert(ann), pascal.convert(other)
    target.load_state_dict(load(save(source.state_dict())))
    assert torch.equal(source(images()), target(images()))
    with pytest.raises(PascalError, match="the file has 4 levels, the neuron 5"):
        pascal.convert(lively(Branches(), images(1), [5, 2, 3, 1, 8, 5])).load_state_dict(source.state_dict())


def test_errors_name_what_is_wrong() -> None:
    ann = lively(Branches(), images(), [4] * 6)
    with pytest.raises(PascalError, match="training mode; call ann"):
        pascal.convert(Branches())
    with pytest.raises(PascalError, match="no QCFS activation; call pascal"):
        pascal.convert(nn.Sequential(nn.Linear(3, 3)).eval())
    with pytest.raises(PascalError, match="engine: got 'gpu'"):
        pascal.convert(ann, engine="gpu")
    with pytest.raises(PascalError, match="neuron: got 'lif'"):
        pascal.convert(ann, neuron="lif")
    with pytest.raises(PascalError, match="timesteps: got None"):
        pascal.convert(ann, neuron="if")
    with pytest.raises(PascalError, match="timesteps: got 4, but PASC"):
        pascal.convert(ann, timesteps=4)
    with pytest.raises(PascalError, match="engine: got 'counts', but the spikes of plain IF"):
        pascal.convert(ann, engine="counts", neuron="if", timesteps=4)
    with pytest.raises(PascalError, match="compiled: got True with engine='steps', expected engine='counts'"):
        pascal.convert(ann, compiled=True)
    with pytest.raises(PascalError, match=r"pixels: got Pixels.* with engine='counts', expected engine='integer'"):
        pascal.convert(ann, engine="counts", pixels=Pixels())
    with pytest.raises(PascalError, match="has no parameters"):
        pascal.convert(nn.Sequential(nn.Flatten()).eval())
    half_trained = lively(Branches(), images(), [4] * 6)
    half_trained.bn.train()
    with pytest.raises(PascalError, match="bn is in training mode"):
        pascal.convert(half_trained)
    broken = lively(Branches(), images(), [4] * 6)
    broken.fc1.weight.data[0, 0] = float("nan")
    with pytest.raises(PascalError, match=r"fc1\.weight holds NaN"):
        pascal.convert(broken)
    mixed = lively(Branches(), images(), [4] * 6)
    mixed.fc2.float()
    with pytest.raises(PascalError, match=r"fc2\.weight is torch.float32"):
        pascal.convert(mixed)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (torch.zeros(0, 3, 8, 8).double(), "at least one image"),
        (torch.zeros(1, 3, 8, 8, dtype=torch.uint8), "scale and normalise"),
        (torch.zeros(1, 3, 8, 8), "images are torch.float32"),
        (torch.full((1, 3, 8, 8), float("nan")).double(), "NaN or infinite pixels"),
        (torch.zeros(1, 3, 8, 8, device="meta").double(), "on meta"),
        ([1, 2], "expected a tensor"),
    ],
)
def test_bad_images(batch: object, message: str) -> None:
    snn = pascal.convert(lively(Branches(), images(), [4] * 6))
    with pytest.raises(PascalError, match=message):
        snn(batch)


@pytest.mark.parametrize("engine", ["steps", "counts", "integer"])
def test_autocast_is_refused(engine: str) -> None:
    snn = pascal.convert(lively(Branches(), images(), [4] * 6), engine=engine)
    with torch.autocast("cpu"), pytest.raises(PascalError, match="autocast rounds what must be exact"):
        snn(images())


def test_logits_over_time_are_plain_only() -> None:
    snn = pascal.convert(lively(Branches(), images(), [4] * 6))
    with pytest.raises(PascalError, match="PASC has one answer"):
        snn.logits_over_time(images())
