"""Whole networks: which methods are exact, what they reduce to at the ends of their parameters, and one accounting."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pascal
from pascal.baselines import METHODS, compare, early_exit
from pascal.baselines.method import Field
from pascal.baselines.refit import with_whole_bits
from pascal.baselines.shifts import _ann_channels, channel_means
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


def labelled() -> list[tuple[Tensor, Tensor]]:
    return [(images(), torch.tensor([0, 1, 2, 0, 1]))]


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
    assert torch.equal(next(METHODS["radix"].variants(ann, Field())).run(images()).logits[-1], ann(images()))
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
    seen = made.seen([images()], lambda batch: ann(batch).argmax(-1))
    assert made._exits(0.0)(seen).tolist() == [1] * 5  # type: ignore[attr-defined]
    assert made._exits(1.0)(seen).tolist() == [8] * 5  # type: ignore[attr-defined]
    assert sum(answer.chosen for answer in made.answers) == 1


def test_exits_at_the_ends_answer_as_plain_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """α → 0 is T = 1, α → 1 is the longest T; both read the run of plain, which is made once."""
    monkeypatch.setattr(early_exit, "THRESHOLDS", (0.0, 1.0))
    found = compare(network([4, 4, 4]), labelled(), ["plain", "seenn"], timesteps=[1, 8], calibration=images(4))
    plain = {row.answer: row for row in found if row.label == "IF"}
    exits = {row.answer: row for row in found if row.label == "SEENN-I"}
    for threshold, timesteps in (("0", "T=1"), ("1", "T=8")):
        mine, theirs = exits[f"confidence > {threshold}"], plain[timesteps]
        for name in ("accuracy", "agreement", "total_timesteps", "synaptic_operations"):
            assert getattr(mine, name) == getattr(theirs, name)


def test_oracle_is_as_fast_as_any_rule_that_is_as_right() -> None:
    found = compare(network([4, 4, 4]), labelled(), ["confidence"], timesteps=[8], calibration=images(4))
    oracle = next(row for row in found if row.answer == "oracle")
    for row in found:
        assert row.accuracy <= oracle.accuracy
        assert row.accuracy < oracle.accuracy or row.total_timesteps >= oracle.total_timesteps


def test_delayed_readout_leaves_the_first_half_out() -> None:
    ann = network([4, 4, 4])
    found = {(row.label, row.answer): row for row in compare(ann, labelled(), ["plain"], timesteps=[8])}
    logits = METHODS["plain"](ann, Field(timesteps=(8,))).run(images()).logits
    second_half = (8 * logits[7] - 4 * logits[3]).argmax(-1)
    agreeing = float((second_half == ann(images()).argmax(-1)).double().mean())
    assert found["IF, delayed readout", "T=8"].agreement == agreeing


def test_a_stopped_comparison_goes_on_from_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, batches = network([4, 4, 4]), [labelled()[0], (images(3), torch.zeros(3, dtype=torch.long))]
    first = compare(ann, batches, ["plain", "pasc"], timesteps=[2, 4], store=tmp_path)
    next(tmp_path.rglob("1.npz")).write_bytes(b"torn")
    ran: list[int] = []
    run = METHODS["plain"].run
    monkeypatch.setattr(METHODS["plain"], "run", lambda self, images: ran.append(len(images)) or run(self, images))
    monkeypatch.setattr(METHODS["pasc"], "run", lambda self, images: ran.append(len(images)) or run(self, images))
    again = compare(ann, batches, ["plain", "pasc"], timesteps=[2, 4], store=tmp_path)
    assert ran in ([3], [])
    for before, after in zip(first, again, strict=True):
        assert (before.agreement, before.synaptic_operations) == (after.agreement, after.synaptic_operations)
    compare(ann, [images(5) * 2], ["plain"], timesteps=[2, 4], store=tmp_path)
    assert 5 in ran, "other images are other runs"


def test_a_method_that_cannot_stops_no_other() -> None:
    found = compare(network([4, 4, 4]), labelled(), ["radix", "pasc"])
    assert [row.method for row in found] == ["radix", "pasc"]
    assert found[0].problem.startswith("radix: acts.0 has 4 levels, expected 2ⁿ − 1")
    assert found[0].accuracy is None
    assert (found[1].problem, found[1].mismatches) == ("", 0.0)


def test_methods_may_have_timesteps_of_their_own() -> None:
    found = compare(network([4, 4, 4]), labelled(), {"plain": [2], "cos": [3]}, timesteps=[5])
    assert {(row.method, row.answer) for row in found if row.label != "IF, delayed readout"} == {
        ("plain", "T=2"),
        ("cos", "T=3"),
    }


def test_shifts_follow_the_channels_of_the_ann() -> None:
    """On the images that they were learned on, the mean input of every channel is the ANN's."""
    ann = network([8, 8, 8])
    shifted = METHODS["parallel"](ann, Field(), 2, [images()])  # type: ignore[call-arg]
    names = [row.label for row in compare(ann, labelled(), ["parallel"], timesteps=[2], calibration=images())]
    assert names == ["ParaInf, T = L", "ParaInf", "ParaInf, shifted"]
    arriving: dict[str, Tensor] = {}
    for path, neuron in shifted.network.neurons.items():
        neuron.register_forward_hook(lambda module, inputs, _, path=path: arriving.update({path: inputs[0]}))
    shifted.run(images())
    wanted = _ann_channels(ann, images())
    for path, neuron in shifted.network.neurons.items():
        assert torch.allclose(channel_means(arriving[path]) + neuron.shifts.input, wanted[path][0])


def test_refitted_levels_keep_the_network_nearly_as_it_was() -> None:
    ann = network([8, 4, 5])
    twin = with_whole_bits(ann, images(8))
    assert list(pascal.get_levels(twin).values()) == [7, 3, 3]
    assert list(pascal.get_levels(ann).values()) == [8, 4, 5]
    assert rows(twin, "radix")[0].mismatches == 0
    same = with_whole_bits(network([7, 3, 1]), images(8))
    assert torch.equal(same(images()), network([7, 3, 1])(images()))


def test_pooling_is_named() -> None:
    for pool, name in (("avg", "average"), ("max", "max")):
        ann = pascal.build_network("vgg16", levels=3, width=0.0625, pool=pool).eval()
        assert METHODS["plain"](ann, Field()).network.pooling == name
    residual = pascal.build_network("resnet20", levels=3, width=0.25).eval()
    assert METHODS["plain"](residual, Field()).network.pooling == "none"


def test_synapses_are_those_of_the_measured_workloads() -> None:
    ann = network([2, 7, 3])
    measured = sum(layer.synaptic_operations or 0 for layer in pascal.measure(ann, [images()]))
    assert rows(ann, "pasc")[0].synaptic_operations == pytest.approx(measured, rel=1e-12)
    assert rows(ann, "parallel", timesteps=[7])[0].synaptic_operations == pytest.approx(measured, rel=1e-12)
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


def test_fine_tuning_changes_weights_alone_and_is_kept(tmp_path: Path) -> None:
    ann = network([4, 4, 4]).float()
    before = {name: value.clone() for name, value in ann.state_dict().items()}
    labelled = [(images().float(), torch.tensor([0, 1, 2, 0, 1]))]
    for scratch in (False, True):
        options = {"timesteps": [4], "training": labelled, "epochs": 2, "scratch": scratch}
        row = compare(ann, labelled, methods=["tet"], store=tmp_path, **options)[0]
        assert row == compare(ann, labelled, methods=["tet"], store=tmp_path, **options)[0]
        assert row.timesteps == 4
        assert ("from scratch" in row.label) is scratch
    assert all(torch.equal(value, before[name]) for name, value in ann.state_dict().items())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"methods": ["lif"]}, "methods: got 'lif'"),
        ({"methods": ["plain"], "timesteps": [0]}, "plain: timesteps: got 0"),
        ({"methods": ["plain"], "timesteps": []}, "timesteps: got none"),
        ({"methods": ["ftbc"]}, "ftbc: got no calibration images"),
        ({"methods": ["seenn"]}, "seenn: got no calibration images"),
        ({"methods": ["tet"]}, "tet: got no training images"),
        ({"methods": ["cos"], "presimulation": -1}, "cos: presimulation: got -1"),
        ({"methods": ["plain", "srp"], "presimulation": 0}, "srp: presimulation: got 0"),
        ({"methods": ["plain"], "timesteps": [2.0]}, "plain: timesteps: got 2.0"),
        ({"methods": []}, "methods: got none"),
        ({"methods": ["ftbc"], "calibration": images(1)}, "ftbc: calibration: got 1 image"),
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
