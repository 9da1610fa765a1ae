"""The certificate finds what is planted, at the layer where it is planted."""

import copy
import json

import pytest
import torch
from torch import Tensor, nn

import pascal
from benchmarks.networks import lively
from pascal import PascalError

LEVELS = [4, 3, 5, 2, 4, 8, 1, 3, 4, 2, 5, 4, 3, 2, 6, 4, 4]


def images(seed: int = 0) -> Tensor:
    return torch.randn(4, 3, 32, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(scope="module")
def ann() -> nn.Module:
    torch.manual_seed(0)
    network = pascal.build_network("resnet18", width=0.25)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.bias, 0, 0.3)
            module.running_mean.normal_(0, 0.3)
    return lively(network, images(), LEVELS)


def test_passes(ann: nn.Module) -> None:
    verification = pascal.verify(ann, pascal.convert(ann), [(images(), "labels are ignored"), (images(1), None)])
    assert verification.passed
    assert verification.images == 8
    assert verification.neurons == 8 * sum(layer.neurons for layer in pascal.measure(ann, [images()]))
    assert verification.count_mismatches == verification.prediction_mismatches == 0
    assert verification.first_divergence is None
    assert 0 < verification.max_logit_error < 1e-12
    assert verification.dtype == "float64"
    stored = json.loads(verification.to_json())
    assert stored["passed"] is True
    assert len(stored["layers"]) == 18  # the readout is one of them


def test_a_bias_not_divided_is_found(ann: nn.Module) -> None:
    snn = pascal.convert(ann)
    snn.graph.get_submodule("layer2.0.conv1").bias *= LEVELS[4]
    verification = pascal.verify(ann, snn, [images()])
    assert not verification.passed
    assert verification.first_divergence == "layer2.0.act1"
    first = next(layer for layer in verification.layers if layer.mismatches)
    assert first.boundary_distance is not None
    assert first.boundary_distance > 0.01  # no rounding: far from any level boundary


@pytest.mark.parametrize("levels", [1, 6])
def test_a_wrong_level_is_found(ann: nn.Module, levels: int) -> None:
    snn = pascal.convert(ann)
    snn.graph.get_submodule("layer3.0.act2").levels = levels
    verification = pascal.verify(ann, snn, [images()])
    assert verification.first_divergence == "layer3.0.act2"


@pytest.mark.parametrize("levels", [1, 9])
def test_a_level_changed_in_the_ann_is_found(levels: int) -> None:
    ann = lively(pascal.build_network("resnet20", width=0.25), images(), [4] * 19)
    snn = pascal.convert(ann)
    pascal.set_levels(ann, {"layer2.1.act1": levels})
    assert pascal.verify(ann, snn, [images()]).first_divergence == "layer2.1.act1"


def test_a_misaligned_shortcut_is_found(ann: nn.Module) -> None:
    # The block's shortcut carries more timesteps than its residual branch; the sum is cut to the shorter.
    levels = pascal.get_levels(ann)
    assert levels["layer1.1.act1"] < levels["layer1.0.act2"]
    snn = pascal.convert(ann)
    summed = next(
        n.name for n in snn.graph.graph.nodes if n.users and any(u.target == "layer1.1.act2" for u in n.users)
    )
    snn.timesteps[summed] = levels["layer1.1.act1"]
    verification = pascal.verify(ann, snn, [images()])
    assert verification.first_divergence == "layer1.1.act2"


def test_a_swapped_network_is_refused(ann: nn.Module) -> None:
    other = lively(pascal.build_network("resnet20", width=0.25), images(), [4] * 19)
    with pytest.raises(PascalError, match="do not have the same layers"):
        pascal.verify(ann, pascal.convert(other), [images()])
    wider = lively(pascal.build_network("resnet18", width=0.5), images(), LEVELS)
    with pytest.raises(PascalError, match=r"stem.act: shapes \(4, 16, 32, 32\) and \(4, 32, 32, 32\) differ"):
        pascal.verify(ann, pascal.convert(wider), [images()])


def test_rounding_is_counted_and_told_from_faults(ann: nn.Module) -> None:
    """Weights that are off by a thousandth: whatever differs first lies next to a level boundary."""
    snn = pascal.convert(ann)
    snn.graph.get_submodule("stem.conv").weight *= 1 + 1e-3
    verification = pascal.verify(ann, snn, [images(seed) for seed in range(6)])
    assert verification.first_divergence == "stem.act"
    first = next(layer for layer in verification.layers if layer.mismatches)
    assert first.boundary_distance is not None
    assert first.boundary_distance < 1e-2


def test_logits_out_of_range_are_no_certificate(ann: nn.Module) -> None:
    overflowing, snn = copy.deepcopy(ann), pascal.convert(ann)
    with torch.no_grad():
        list(overflowing.parameters())[-1].fill_(1e308).mul_(1.5)
        list(overflowing.parameters())[-2].abs_().add_(1).mul_(1e308)
    with pytest.raises(PascalError, match="ann: got NaN or infinite logits"):
        pascal.verify(overflowing, snn, [images()])


def test_bad_input(ann: nn.Module) -> None:
    snn = pascal.convert(ann)
    with pytest.raises(PascalError, match="got no images"):
        pascal.verify(ann, snn, [])
    with pytest.raises(PascalError, match="at least one image"):
        pascal.verify(ann, snn, [images()[:0]])
    with pytest.raises(PascalError, match="scale and normalise"):
        pascal.verify(ann, snn, [torch.zeros(1, 3, 32, 32, dtype=torch.uint8)])
