"""Thresholds per channel: every engine counts as the ANN does, and what would mix channels is refused by name."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import pascal
from pascal import QCFS, PascalError
from pascal.graph.arrivals import record_counts
from pascal.graph.integer.export import golden_vectors, network_arrays
from tests.graph.awkward import Awkward
from tests.graph.small import Branches, lively

IMAGES = torch.randn(4, 3, 8, 8, generator=torch.Generator().manual_seed(3)).double()


def per_channel(model: nn.Module, images: Tensor, seed: int = 0) -> nn.Module:
    """Every QCFS with a threshold per channel, from a fifth of the old one to twice as much."""
    generator = torch.Generator().manual_seed(seed)

    def spread(qcfs: QCFS, inputs: tuple[Tensor, ...]) -> None:
        if qcfs.threshold.ndim == 0:
            factors = 0.2 + 1.8 * torch.rand(inputs[0].shape[1], generator=generator, dtype=torch.float64)
            qcfs.threshold = qcfs.threshold.detach() * factors

    hooks = [m.register_forward_pre_hook(spread) for m in model.modules() if isinstance(m, QCFS)]  # type: ignore[arg-type]
    with torch.no_grad():
        model(images)
    for hook in hooks:
        hook.remove()
    return model


def branches(levels: list[int]) -> nn.Module:
    torch.manual_seed(0)
    return per_channel(lively(Branches(), IMAGES, levels), IMAGES)


class Dimensions(nn.Module):
    """Convolutions of one and of three dimensions, grouped, with poolings of both kinds, a flattening and a sum."""

    def __init__(self, n: int) -> None:
        super().__init__()
        conv, norm = ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d))[n - 1]
        pool = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)[n - 1]
        mean = (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)[n - 1]
        self.stem = nn.Sequential(conv(3, 6, 3, padding=1), norm(6), QCFS(), pool(2))
        self.grouped = nn.Sequential(conv(6, 6, 3, padding=1, groups=3), QCFS())
        self.act, self.pool, self.last = QCFS(), mean(2), nn.Sequential(nn.Linear(6 * 2**n, 7), QCFS(), nn.Linear(7, 4))

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = self.act(self.grouped(x) + x - 0.25)
        return self.last(torch.flatten(self.pool(x), 1))


@pytest.mark.parametrize("engine", ["steps", "counts", "integer"])
def test_every_kind_of_connection_is_exact(engine: str) -> None:
    ann = branches([4, 2, 3, 4, 1, 5])
    snn = pascal.convert(ann, engine=engine)
    if engine == "integer":
        assert pascal.verify(snn, snn.stepwise(), [IMAGES]).passed
        assert pascal.verify(ann, snn, [IMAGES]).count_mismatches < 0.2 * pascal.verify(ann, snn, [IMAGES]).neurons
    else:
        certificate = pascal.verify(ann, snn, [IMAGES])
        assert certificate.passed
        assert certificate.max_logit_error < 1e-12


@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_to_three_dimensions(n: int) -> None:
    torch.manual_seed(n)
    images = torch.randn(3, 3, *[8] * n).double()
    ann = per_channel(lively(Dimensions(n), images, [4, 3, 5, 2]), images)
    assert all(layer.threshold.ndim == 1 for layer in ann.modules() if isinstance(layer, QCFS))
    for engine in ("steps", "counts"):
        assert pascal.verify(ann, pascal.convert(ann, engine=engine), [images]).passed
    integer = pascal.convert(ann, engine="integer")
    assert pascal.verify(integer, integer.stepwise(), [images]).passed


def test_connections_that_cannot_be_folded() -> None:
    torch.manual_seed(0)
    ann = per_channel(lively(Awkward(), IMAGES, [4] * 8), IMAGES)
    for engine in ("steps", "counts"):
        assert pascal.verify(ann, pascal.convert(ann, engine=engine), [IMAGES]).passed


def test_equal_thresholds_per_channel_are_one_threshold() -> None:
    torch.manual_seed(0)
    one = lively(Branches(), IMAGES, [4] * 6)
    many = copy.deepcopy(one)
    widths = {"act1": 8, "act2": 8, "act3": 8, "act4": 16, "act5": 20, "act6": 12}
    for name, width in widths.items():
        layer = many.get_submodule(name)
        layer.threshold = layer.threshold.detach().expand(width)
    for engine in ("steps", "counts", "integer"):
        certificate = pascal.verify(pascal.convert(one, engine=engine), pascal.convert(many, engine=engine), [IMAGES])
        assert certificate.passed
    before, after = pascal.measure(one, [IMAGES]), pascal.measure(many, [IMAGES])
    assert before == after


def test_the_plain_neuron_has_thresholds_per_channel_too() -> None:
    ann = branches([4] * 6)
    snn = pascal.convert(ann, neuron="if", timesteps=3)
    _, trains = snn.trains(IMAGES)
    currents = ann.bn(ann.stem(IMAGES)).detach()
    expected = pascal.if_spikes(currents.expand(3, *currents.shape), ann.act1.threshold.detach().view(-1, 1, 1))
    assert torch.equal(trains["act1"], expected)


def test_golden_vectors_have_a_threshold_per_channel() -> None:
    ann = branches([4] * 6)
    snn = pascal.convert(ann, engine="integer")
    arrays = network_arrays(snn.network(IMAGES))
    assert arrays["act1/threshold"].shape == (1, 8, 1, 1)
    assert len(set(arrays["act1/threshold"].ravel().tolist())) > 1
    counts = snn.record(IMAGES)[1]
    golden = golden_vectors(snn, IMAGES)
    assert all((golden[f"{path}/counts"] == count.numpy()).all() for path, count in counts.items())


@pytest.mark.parametrize(
    "mix",
    [
        lambda x: F.max_pool1d(x.flatten(2).transpose(1, 2), 2),
        lambda x: F.max_pool1d(x.flatten(1), 2),
        lambda x: F.max_pool2d(x.transpose(1, 2), 2),
        lambda x: F.max_pool2d(x[:, :, 0], 2),
        lambda x: F.max_pool3d(x, 2),
        lambda x: F.max_pool2d(F.pixel_shuffle(x, 2), 2),
    ],
)
def test_maxima_over_channels_of_different_steps_are_refused(mix: object) -> None:
    class Mixes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.act = nn.Conv2d(3, 4, 3, padding=1), QCFS()

        def forward(self, x: Tensor) -> Tensor:
            return mix(self.act(self.conv(x))).flatten(1)  # type: ignore[operator]

    ann = Mixes().double().eval()
    pascal.convert(ann)  # with one threshold there is nothing to mix
    ann.act.threshold = torch.tensor([1.0, 2.0, 0.5, 1.5])
    with pytest.raises(PascalError, match="spikes of different steps may meet in one window"):
        pascal.convert(ann)


def test_hardware_sees_what_a_spike_is_worth() -> None:
    """A spike's worth is part of the weights of whoever reads it: that of a silent channel's weights is small."""
    torch.manual_seed(0)
    ann = nn.Sequential(
        nn.Conv2d(3, 4, 3), QCFS(4, 1.0), nn.Conv2d(4, 5, 3), QCFS(4, 1.0), nn.Flatten(), nn.Linear(80, 2)
    )
    ann = ann.double().eval()
    ann[1].threshold = torch.tensor([1.0, 1.0, 1e-4, 1.0])
    for engine in ("steps", "counts"):
        snn = pascal.convert(ann, engine=engine)
        weights = record_counts(snn, pascal.measure(snn, [IMAGES]), IMAGES)[1].weights
        assert not weights[:, 2].any()
        assert weights[:, 0].any()


def test_a_wrong_number_of_channels_is_named() -> None:
    layer = QCFS(4, torch.ones(3))
    with pytest.raises(PascalError, match=r"thresholds for 3 channels and reads a tensor of shape \(2, 5, 4\)"):
        layer(torch.zeros(2, 5, 4))
    with pytest.raises(PascalError, match="expected one finite number > 0, or one per channel"):
        QCFS(4, torch.tensor([1.0, 0.0]))
    with pytest.raises(PascalError, match="expected one finite number > 0, or one per channel"):
        QCFS(4, torch.ones(2, 2))


def test_a_window_that_is_a_size_of_the_images() -> None:
    """F.avg_pool2d(x, x.size(3)), as many networks end: every engine and the certificate take it."""

    class Ends(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = nn.Conv2d(3, 4, 3), nn.Linear(4, 2)
            self.act = QCFS(4, torch.tensor([0.5, 1.0, 1.5, 2.0]))

        def forward(self, x: Tensor) -> Tensor:
            x = self.act(self.conv(x))
            return self.head(F.avg_pool2d(x, x.size()[3]).flatten(1))

    ann, images = Ends().double().eval(), torch.randn(2, 3, 32, 32, dtype=torch.float64)
    for engine in ("steps", "counts"):
        assert pascal.verify(ann, pascal.convert(ann, engine=engine), [images]).passed
    integer = pascal.convert(ann, engine="integer")
    assert pascal.verify(integer, integer.stepwise(), [images]).passed


def test_outputs_of_a_linear_layer_are_no_channels() -> None:
    """Behind a linear layer of several axes a threshold per channel is one of axis 1, though both are of one size."""
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 4, 3), QCFS(3, 2.0), nn.Linear(6, 4), QCFS(1, 1.0), nn.Flatten(), nn.Linear(96, 5)]
    ann = nn.Sequential(*layers).double().eval()
    layers[3].threshold = torch.tensor([0.2, 0.9, 1.7, 0.4], dtype=torch.float64)
    snn = pascal.convert(ann, engine="integer")
    assert pascal.verify(snn.stepwise(), snn, [IMAGES]).count_mismatches == 0  # type: ignore[attr-defined]
    assert snn.record(IMAGES)[1]["3"].any()
