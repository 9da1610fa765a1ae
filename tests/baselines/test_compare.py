"""Whole networks: which methods are exact, what they reduce to at the ends of their parameters, and one accounting."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pascal
from pascal.baselines import METHODS, compare
from pascal.baselines.method import Field
from pascal.errors import PascalError

EXACT = ["parallel", "pasc", "st-bif", "group"]


class Branches(nn.Module):
    """A residual sum, a concatenation, average pooling and a readout; dyadic weights make every sum exact."""

    def __init__(self, levels: list[int]) -> None:
        super().__init__()
        self.first, self.second, self.third = (nn.Conv2d(c, 4, 3, padding=1) for c in (2, 4, 4))
        self.acts = nn.ModuleList(pascal.QCFS(levels=level, threshold=float(level) / 2) for level in levels)
        self.pool, self.head = nn.AvgPool2d(8), nn.Linear(8, 3)

    def forward(self, images: Tensor) -> Tensor:
        stem = self.acts[0](self.first(images))
        deep = self.acts[2](self.third(self.acts[1](self.second(stem))) + stem)
        return self.head(self.pool(torch.cat([deep, stem], 1)).flatten(1))


def network(levels: list[int]) -> nn.Module:
    generator = torch.Generator().manual_seed(1)
    ann = Branches(levels).double().eval()
    for name, parameter in ann.named_parameters():
        if "threshold" not in name and "acts" not in name:
            parameter.data = torch.randint(-8, 9, parameter.shape, generator=generator) / 16.0
    return ann.double()


def images(number: int = 5) -> Tensor:
    generator = torch.Generator().manual_seed(2)
    return (torch.randint(-16, 17, (number, 2, 8, 8), generator=generator) / 8).double()


def rows(ann: nn.Module, method: str, **options: Any) -> list[Any]:
    return compare(ann, [(images(), torch.zeros(5, dtype=torch.long))], methods=[method], **options)


@pytest.mark.parametrize("levels", [[4, 4, 4], [2, 7, 3]])
@pytest.mark.parametrize("method", EXACT)
def test_lossless_methods_are_exact_with_any_levels(method: str, levels: list[int]) -> None:
    ann = network(levels)
    row = rows(ann, method, timesteps=[2])[0]
    assert row.exact
    assert (row.agreement, row.mismatches, row.first_mismatch) == (1.0, 0.0, None)
    made = next(METHODS[method].variants(ann, Field()))
    assert torch.equal(made.run(images()).logits[-1], ann(images()))


@pytest.mark.parametrize("method", EXACT)
def test_lossless_methods_are_exact_with_thresholds_per_channel(method: str) -> None:
    ann = network([4, 4, 2])
    for act in ann.acts:  # type: ignore[union-attr]
        act.threshold = torch.tensor([0.5, 1.0, 2.0, 4.0])  # type: ignore[union-attr]
    ann = ann.double()
    assert rows(ann, method, timesteps=[2])[0].mismatches == 0


def test_radix_is_exact_with_levels_of_whole_bits() -> None:
    ann = network([3, 7, 1])
    row = rows(ann, "radix")[0]
    assert row.mismatches == 0
    assert torch.equal(next(METHODS["radix"].variants(ann, Field())).run(images()).logits[0], ann(images()))
    with pytest.raises(PascalError, match=r"radix: acts\.1 has 4 levels"):
        rows(network([3, 4, 1]), "radix")


def test_plain_is_the_vanilla_network_of_conversion() -> None:
    ann = network([4, 4, 4])
    snn = pascal.convert(ann, neuron="if", timesteps=6)
    ours = METHODS["plain"](ann, Field(timesteps=(6,))).run(images())
    assert torch.equal(ours.logits, snn.logits_over_time(images()))
    assert all(torch.equal(ours.trains[path], train) for path, train in snn.trains(images())[1].items())


def test_methods_without_their_correction_are_plain() -> None:
    ann, field = network([4, 4, 4]), Field(timesteps=(1, 3, 6), presimulation=0)
    plain = METHODS["plain"](ann, field).run(images()).logits
    assert torch.equal(METHODS["cos"](ann, field).run(images()).logits, plain)
    ftbc = METHODS["ftbc"]._calibrated(_Uncalibrated(ann, 6), [images()], 0.0)  # type: ignore[attr-defined]
    assert torch.equal(ftbc.run(images(), 6).logits, plain)


class _Uncalibrated:
    """What a calibration reads of its method."""

    def __init__(self, ann: nn.Module, timesteps: int) -> None:
        self.ann, self.timesteps = ann, timesteps


def test_rounds_of_offset_calibration_end_where_the_sum_ends() -> None:
    """COS with ρ = T and many rounds counts as ParaInf does."""
    ann, field = network([4, 4, 4]), Field(timesteps=(4,), presimulation=4)
    offset = METHODS["cos"](ann, field, 16).run(images())  # type: ignore[call-arg]
    parallel = METHODS["parallel"](ann, field, 4).run(images())  # type: ignore[call-arg]
    assert all(torch.equal(train.sum(0), parallel.trains[path].sum(0)) for path, train in offset.trains.items())


@pytest.mark.parametrize("method", ["seenn", "confidence"])
def test_thresholds_of_early_exit_reach_both_ends(method: str) -> None:
    ann = network([4, 4, 4])
    made = METHODS[method](ann, Field(timesteps=(8,), calibration=[images()]))
    logits = made.run(images()).logits
    assert made._exits(0.0)(logits).tolist() == [1] * 5  # type: ignore[attr-defined]
    assert made._exits(1.0)(logits).tolist() == [8] * 5  # type: ignore[attr-defined]
    assert sum(answer.chosen for answer in made.answers) == 1


def test_synapses_are_those_of_the_measured_workloads() -> None:
    ann = network([2, 7, 3])
    measured = sum(layer.synaptic_operations or 0 for layer in pascal.measure(ann, [images()]))
    assert rows(ann, "pasc")[0].synaptic_operations == pytest.approx(measured, rel=1e-12)
    assert rows(ann, "parallel", timesteps=[2])[0].synaptic_operations == pytest.approx(measured, rel=1e-12)
    assert rows(ann, "group")[0].synaptic_operations == pytest.approx(measured, rel=1e-12)


def test_timesteps_on_the_critical_path() -> None:
    """VGG-16 at L = 4: 102 for PASC, 60 in closed form, T when layers work at once."""
    ann = pascal.build_network("vgg16", levels=4, width=0.0625, pool="avg").eval()
    field = Field(timesteps=(4,))
    by_name = {name: METHODS[name](ann, field) for name in ("pasc", "parallel", "plain")}
    assert {name: method.sequential_timesteps(4) for name, method in by_name.items()} == {
        "pasc": 102,
        "parallel": 60,
        "plain": 4,
    }


def test_fine_tuning_changes_weights_alone() -> None:
    ann = network([4, 4, 4]).float()
    before = {name: value.clone() for name, value in ann.state_dict().items()}
    labelled = [(images().float(), torch.tensor([0, 1, 2, 0, 1]))]
    row = compare(ann, labelled, methods=["tet"], timesteps=[4], training=labelled, epochs=2)[0]
    assert row.timesteps == 4
    assert all(torch.equal(value, before[name]) for name, value in ann.state_dict().items())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"methods": ["lif"]}, "methods: got 'lif'"),
        ({"methods": ["plain"], "timesteps": [0]}, "plain: timesteps: got 0"),
        ({"methods": ["plain"], "timesteps": []}, "plain: timesteps: got none"),
        ({"methods": ["ftbc"]}, "ftbc: got no calibration images"),
        ({"methods": ["seenn"]}, "seenn: got no calibration images"),
        ({"methods": ["tet"]}, "tet: got no training images"),
        ({"methods": ["cos"], "presimulation": -1}, "cos: presimulation: got -1"),
    ],
)
def test_refusals_name_method_and_value(options: dict[str, Any], told: str) -> None:
    with pytest.raises(PascalError, match=told):
        compare(network([4, 4, 4]), [images()], **options)


def test_signed_spikes_and_maxima_do_not_meet() -> None:
    ann = pascal.build_network("vgg16", levels=3, width=0.0625).eval()
    for method in ("st-bif", "radix"):
        with pytest.raises(PascalError, match="average pooling"):
            compare(ann, [torch.zeros(1, 3, 32, 32)], methods=[method])
