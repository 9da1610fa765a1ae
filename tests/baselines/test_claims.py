"""Rivals' claims: which the certificate confirms, in float64 and in whole numbers, and by how much others miss."""

import pytest
import torch
from torch import Tensor, nn

import pascal
from benchmarks.checkpoints import QCFS_RESNET20, load_qcfs_resnet20
from benchmarks.studies.certificate import cifar10_test
from pascal.baselines import rival
from pascal.baselines.refit import with_whole_bits
from pascal.errors import PascalError
from tests.checkpoints import checkpoint_path, data_root

EXACT = ("pasc", "parallel", "group", "st-bif", "radix")


def trained(levels: int, whole: bool) -> nn.Module:
    """A residual network that fires; `whole`: every number a multiple of 2⁻¹⁶, so that no sum is ever rounded."""
    torch.manual_seed(0)
    ann = pascal.build_network("resnet20", levels=levels, width=0.25).double().eval()
    for module in ann.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eps = 0.0 if whole else module.eps
        if isinstance(module, nn.Conv2d | nn.Linear) and whole:
            module.weight.data = (module.weight.data * 64).round() / 64
    for layer in (module for module in ann.modules() if isinstance(module, pascal.QCFS)):
        layer.threshold = 0.25 * levels
        if whole:
            layer.raw_threshold.data = layer.raw_threshold.data.double()
    return ann.double()


def pictures(number: int = 3) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return (torch.randint(-128, 128, (number, 3, 32, 32), generator=generator) / 64).double()


@pytest.mark.parametrize("whole", [False, True], ids=["float64", "whole numbers"])
@pytest.mark.parametrize("name", EXACT)
def test_lossless_claims_are_confirmed(name: str, whole: bool) -> None:
    ann = trained(7, whole)
    found = pascal.verify(ann, rival(ann, name), [pictures()])
    assert found.passed, str(found)
    assert found.engine == f"RivalSNN, neuron {name}".replace(", neuron pasc", "")
    if whole:
        counts = pascal.convert(ann, engine="counts")
        assert torch.equal(rival(ann, name)(pictures()), counts(pictures()))


@pytest.mark.parametrize("name", ["plain", "cos", "ftbc", "srp"])
def test_other_methods_are_told_where_they_differ(name: str) -> None:
    ann = trained(8, whole=False)
    found = pascal.verify(ann, rival(ann, name, pictures(4)), [pictures()])
    assert not found.passed
    assert found.count_mismatches > 0
    assert found.first_divergence is not None


def test_claims_of_unequal_levels_and_unknown_methods_are_refused() -> None:
    ann = trained(4, whole=False)
    pascal.set_levels(ann, [4] * 10 + [2] * 9)
    with pytest.raises(PascalError, match=r"cos: .* has 2 levels, expected 4"):
        rival(ann, "cos")
    with pytest.raises(PascalError, match="method: got 'lif'"):
        rival(ann, "lif")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*EXACT, "cos", "ftbc"])
def test_claims_on_the_public_network(name: str) -> None:
    """Section 10 of the acceptance tests: float64, neuron by neuron; radix on the network with 7 levels."""
    data_root()
    ann = load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20)).double()
    images = cifar10_test(48)[0].double()
    if name == "radix":
        ann = with_whole_bits(ann, images[16:])
    found = pascal.verify(ann, rival(ann, name, images[16:]), images[:16].split(8))
    assert found.passed == (name in EXACT), str(found)
    if name == "cos":  # one round, ρ = T = L: few neurons of a layer, and what they do to the layers behind it
        second = found.layers[1]
        assert second.mismatches / second.neurons < 0.002
        assert (
            found.count_mismatches < pascal.verify(ann, rival(ann, "plain"), images[:16].split(8)).count_mismatches / 2
        )
