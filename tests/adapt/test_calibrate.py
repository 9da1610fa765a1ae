"""Calibration against the ReLU network's own activations."""

import pytest
import torch
from torch import nn

from pascal.adapt import calibrate_thresholds, set_thresholds
from pascal.errors import PascalError
from pascal.neurons import QCFS


def two_networks() -> tuple[nn.Sequential, nn.Sequential]:
    """A ReLU network and its quantized copy with thresholds that fit nothing."""
    torch.manual_seed(0)
    relu = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 4))
    quantized = nn.Sequential(relu[0], QCFS(4, 0.01), relu[2], QCFS(8, 500.0), relu[4])
    return relu, quantized


def some_batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(1)
    return [(torch.randn(size, 6), torch.zeros(size)) for size in (400, 100)]


def activations() -> dict[str, torch.Tensor]:
    relu, _ = two_networks()
    images = torch.cat([images for images, _ in some_batches()])
    with torch.no_grad():
        return {"1": relu[:2](images), "3": relu[:4](images)}


def test_maximum_is_that_of_the_relu_network():
    # An equal sum of products may round differently in batches of another size.
    expected = {name: output.max().item() for name, output in activations().items()}
    assert calibrate_thresholds(two_networks()[1], some_batches(), "max") == pytest.approx(expected, rel=1e-6)


def test_percentile_leaves_its_share_above():
    thresholds = calibrate_thresholds(two_networks()[1], some_batches(), "percentile", percentile=90.0)
    for name, output in activations().items():
        positive = output[output > 0]
        above = (positive > thresholds[name]).float().mean().item()
        assert above == pytest.approx(0.1, abs=0.01)


def test_least_error_is_least_among_other_thresholds():
    thresholds = calibrate_thresholds(two_networks()[1], some_batches(), "mse")
    for (name, output), levels in zip(activations().items(), (4, 8), strict=True):
        errors = {}
        for factor in (0.5, 0.8, 1.0, 1.25, 2.0):
            errors[factor] = (QCFS(levels, factor * thresholds[name])(output) - output).square().mean().item()
        assert min(errors, key=errors.__getitem__) == 1.0
        assert thresholds[name] < output.max()


def test_calibrated_thresholds_make_the_networks_agree():
    relu, quantized = two_networks()
    for layer, levels in ((1, 64), (3, 64)):
        quantized[layer].levels = levels
    images = torch.cat([images for images, _ in some_batches()])
    with torch.no_grad():
        before = (relu(images) - quantized(images)).abs().mean()
        set_thresholds(quantized, calibrate_thresholds(quantized, some_batches(), "max"))
        after = (relu(images) - quantized(images)).abs().mean()
    assert after < 0.05 * before


def test_bad_input_is_named():
    _, network = two_networks()
    with pytest.raises(PascalError, match="method: got 'median'"):
        calibrate_thresholds(network, some_batches(), "median")
    with pytest.raises(PascalError, match="percentile: got 0"):
        calibrate_thresholds(network, some_batches(), "percentile", percentile=0)
    with pytest.raises(PascalError, match="an iterator is spent"):
        calibrate_thresholds(network, iter(some_batches()))
    with pytest.raises(PascalError, match=r"disagree on \['3'\]"):
        set_thresholds(network, {"1": 1.0})
    network[2].bias.data.fill_(-1e6)
    with pytest.raises(PascalError, match=r"layers \['3'\] put out nothing"):
        calibrate_thresholds(network, some_batches())
