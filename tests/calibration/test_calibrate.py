"""Calibration without labels: nearer to the float network than it was, exact after conversion, refusals in words."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import pascal
from pascal import PascalError
from pascal.calibration.network import float_twin
from pascal.calibration.ridge import Ridge, Sums
from pascal.calibration.state import restore
from pascal.calibration.store import Store


class Joins(nn.Module):
    """Branches, a concatenation, a depthwise and a grouped convolution, a layer called twice, a linear bottleneck."""

    def __init__(self, n: int = 2) -> None:
        super().__init__()
        conv, norm = ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d))[n - 1]
        self.stem, self.bn = conv(3, 8, 3, padding=1), norm(8)
        self.depthwise, self.project = conv(8, 8, 3, padding=1, groups=8), conv(8, 8, 1)
        self.twice, self.grouped = conv(8, 8, 3, padding=1), conv(16, 12, 3, stride=2, padding=1, groups=2)
        self.head = nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu6(self.bn(self.stem(x)))
        y = x + self.project(F.relu(self.depthwise(x)))
        z = F.relu(self.twice(F.relu(self.twice(y))))
        z = F.relu(self.grouped(torch.cat((z, F.relu(y)), 1)))
        return self.head(z.flatten(2).mean(2))


def network(n: int = 2) -> nn.Module:
    torch.manual_seed(n)
    return Joins(n).eval()


def images(count: int = 96, n: int = 2) -> Tensor:
    return torch.randn(count, 3, *[8] * n, generator=torch.Generator().manual_seed(9))


def distance(a: nn.Module, b: nn.Module, pixels: Tensor) -> float:
    with torch.no_grad():
        return float((a(pixels) - b(pixels)).square().mean())


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ridge_is_nearer_and_stays_exact(n: int) -> None:
    relu = network(n)
    ann = pascal.quantize(relu, levels=4, threshold=2.0)
    seen, held = images(n=n).split([64, 32])
    by_threshold = pascal.calibrate(ann, seen.split(32), "mse").ann
    calibration = pascal.calibrate(ann, [(batch, None) for batch in seen.split(32)])
    assert distance(calibration.ann, relu, held) < distance(by_threshold, relu, held) < distance(ann, relu, held)
    assert all(layer.after < 1.1 * layer.before for layer in calibration.layers)
    exact = calibration.ann.double().eval()
    for engine in ("steps", "counts"):
        assert pascal.verify(exact, pascal.convert(exact, engine=engine), [held[:4].double()]).passed
    integer = pascal.convert(exact, engine="integer")
    assert pascal.verify(integer, integer.stepwise(), [held[:2].double()]).passed


def test_the_network_given_is_not_changed_and_a_seed_repeats_everything() -> None:
    ann = pascal.quantize(network(), levels=4)
    before = {name: value.clone() for name, value in ann.state_dict().items()}
    first, again = (pascal.calibrate(ann, images().split(40), seed=3) for _ in range(2))
    assert all(torch.equal(value, before[name]) for name, value in ann.state_dict().items())
    assert all(torch.equal(a, b) for a, b in zip(first.ann.parameters(), again.ann.parameters(), strict=True))
    assert first.layers == again.layers
    assert "ridge: 96 images" in str(first)


def test_the_clip_of_relu6_bounds_the_threshold() -> None:
    relu = network()
    relu.stem.weight.data *= 200
    for method in ("max", "percentile", "mse", "channel", "ridge"):
        ann = pascal.calibrate(pascal.quantize(relu), images(), method).ann
        layer = next(module for module in ann.modules() if hasattr(module, "clip"))
        assert layer.clip == 6.0
        assert layer.threshold.detach().max() <= 6.0


def test_max_and_percentile_are_those_of_the_float_network() -> None:
    relu = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 4)).eval()
    pixels = torch.randn(500, 6, generator=torch.Generator().manual_seed(1))
    activations = relu[:2](pixels).detach()
    ann = pascal.quantize(relu)
    assert pascal.calibrate(ann, pixels, "max").ann.get_submodule("1").threshold.item() == activations.max().item()
    threshold = pascal.calibrate(ann, pixels, "percentile", percentile=90.0).ann.get_submodule("1").threshold
    assert (activations[activations > 0] > threshold).float().mean().item() == pytest.approx(0.1, abs=0.01)


def test_auto_takes_the_best_on_held_out_images() -> None:
    calibration = pascal.calibrate(pascal.quantize(network(), levels=4), images().split(48), "auto")
    assert set(calibration.tried) == {"max", "percentile", "mse", "channel", "ridge"}
    assert calibration.tried[calibration.method] == min(calibration.tried.values())


def test_a_maximum_over_channels_keeps_one_threshold() -> None:
    class Mixes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = nn.Conv2d(3, 4, 3), nn.Linear(72, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(F.max_pool1d(F.relu(self.conv(x)).flatten(1), 2))

    calibration = pascal.calibrate(pascal.quantize(Mixes().eval(), levels=4), images())
    assert calibration.ann.get_submodule("relu").threshold.ndim == 0
    assert "one threshold" in calibration.layers[0].note
    pascal.convert(calibration.ann)


def test_layers_that_cannot_be_solved_say_so() -> None:
    torch.manual_seed(0)
    dead = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3)).eval()
    dead[0].bias.data.fill_(-1e3)
    calibration = pascal.calibrate(pascal.quantize(dead), torch.randn(64, 6))
    assert "nothing above 0" in calibration.layers[0].note
    assert "never change" in calibration.layers[1].note


def test_thresholds_are_fitted_whatever_becomes_of_the_weights() -> None:
    torch.manual_seed(0)
    wide = nn.Sequential(nn.Linear(6, 200), nn.ReLU(), nn.Linear(200, 8), nn.ReLU(), nn.Linear(8, 3)).eval()
    layer = pascal.calibrate(pascal.quantize(wide, levels=4, threshold=80.0), torch.randn(64, 6)).layers[1]
    assert layer.after < 0.1 < layer.before


def test_the_ridge_learns_nothing_by_heart() -> None:
    """More weights than images, and what is missing has nothing to do with what is read: 1.5, and noise."""
    torch.manual_seed(0)
    layer = nn.Linear(200, 3).double()
    ridge = Ridge(layer, 1, torch.Generator().manual_seed(0))
    ridge.add(torch.randn(64, 200).double(), 1.5 + torch.randn(64, 3).double())
    weight, bias, note = ridge.solve()
    assert "does not carry over" in note
    assert not weight.any()
    assert 1 < float(bias.mean()) < 2


def test_the_gain_is_what_the_residual_loses() -> None:
    torch.manual_seed(0)
    x, r = torch.randn(2, 50, 4).double(), torch.randn(2, 50, 3).double()
    delta, bias = torch.randn(2, 4, 3).double(), torch.randn(2, 3).double()
    left = (r - x @ delta - bias[:, None]).square().sum()
    torch.testing.assert_close(Sums.of(x, r).gain((delta, bias)), float(r.square().sum() - left))


def test_the_ridge_finds_a_correction_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing = ΔW·x + Δb exactly: with hardly any penalty it is found, dilation, stride and groups included."""
    torch.manual_seed(0)
    monkeypatch.setattr("pascal.calibration.ridge.PENALTY", 1e-14)
    conv = nn.Conv2d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2).double()
    lacking = nn.Conv2d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2).double()
    pixels = torch.randn(8, 4, 12, 12).double()
    ridge = Ridge(conv, 2, torch.Generator().manual_seed(0))
    with torch.no_grad():
        for batch in pixels.split(4):
            ridge.add(batch, lacking(batch))
    weight, bias, note = ridge.solve()
    assert note == ""
    torch.testing.assert_close(weight, lacking.weight.detach(), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(bias, lacking.bias.detach(), rtol=1e-8, atol=1e-8)


def test_values_beyond_the_budget_are_kept_on_disk() -> None:
    with Store(budget=100) as store:
        small, large = torch.randn(4), torch.randn(50)
        store["float", "x", 0], store["float", "y", 0] = small, large
        assert store["float", "x", 0] is small
        torch.testing.assert_close(store["float", "y", 0], large, rtol=1e-3, atol=1e-6)
        store.drop(("float", "y", 0))
        assert ("float", "y", 0) not in store


def test_the_float_twin_is_the_relu_network() -> None:
    relu = network()
    torch.testing.assert_close(float_twin(pascal.quantize(relu))(images(4)), relu(images(4)))


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        (torch.randn(8, 3, 8, 8), "got 8 images, expected at least 32"),
        (torch.randn(40, 4, 8, 8), "cannot run on them"),
        (torch.full((40, 3, 8, 8), float("nan")), "NaN or infinite pixels"),
        (torch.randint(0, 256, (40, 3, 8, 8)).float(), "expected them scaled and normalised"),
        (torch.rand(40, 3, 8, 8) * 255, "expected them scaled and normalised"),
        (torch.randint(0, 256, (40, 3, 8, 8)), "scale and normalise the pixels first"),
        ([], "got 0 images"),
    ],
)
def test_images_that_do_not_fit_are_refused(batches: object, message: str) -> None:
    with pytest.raises(PascalError, match=message):
        pascal.calibrate(pascal.quantize(network()), batches)


def test_what_is_no_quantised_network_is_refused() -> None:
    with pytest.raises(PascalError, match=r"call pascal.quantize"):
        pascal.calibrate(network(), images())
    with pytest.raises(PascalError, match="method: got 'median'"):
        pascal.calibrate(pascal.quantize(network()), images(), "median")
    with pytest.raises(PascalError, match="percentile: got 0"):
        pascal.calibrate(pascal.quantize(network()), images(), "percentile", percentile=0)


def test_auto_holds_images_out_whatever_the_batches_are() -> None:
    ann = pascal.quantize(network(), levels=4)
    single, whole = (pascal.calibrate(ann, images(40).split(size), "auto") for size in (1, 40))
    assert single.tried["max"] == pytest.approx(whole.tried["max"])
    assert single.images == whole.images == 40


def test_large_batches_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory grows with what is run at once, so that one tensor of all images is run in parts."""
    ann, seen = pascal.quantize(network(), levels=4), images(64)
    monkeypatch.setattr("pascal.calibration.network.MOST_PIXELS", 32 * seen[0].numel())
    whole, parts = (pascal.calibrate(ann, batches).ann for batches in (seen, seen.split(32)))
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), parts.parameters(), strict=True))


def test_a_calibrated_network_comes_back_from_its_state() -> None:
    relu = network()
    relu.twice.bias = None  # the ridge gives it one for each of its calls
    ann = pascal.quantize(relu, levels=4)
    calibrated = pascal.calibrate(ann, images()).ann
    state = calibrated.state_dict()
    assert not any("running" in name for name in state)
    again = restore(pascal.quantize(relu, levels=1), state)
    assert torch.equal(again(images(8)), calibrated(images(8)))
    assert pascal.get_levels(again) == pascal.get_levels(ann)
    with pytest.raises(PascalError, match="expected that of the calibrated"):
        restore(ann, {name: value for name, value in state.items() if "stem" not in name})
