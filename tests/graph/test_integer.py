"""The integer engine: integers timestep by timestep and integers by counts are the same integers."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import pascal
from benchmarks.networks import lively
from pascal import QCFS, PascalError
from pascal.graph.integer import IntegerSNN, Pixels
from pascal.graph.integer.modules import IntegerAffine, IntegerPASC, IntegerWeighted
from pascal.graph.observe import observe
from tests.graph.awkward import Awkward
from tests.graph.small import Branches


def images(seed: int = 0, size: int = 8, batch: int = 3) -> Tensor:
    return torch.randn(batch, 3, size, size, generator=torch.Generator().manual_seed(seed))


def integer(ann: nn.Module, int8: bool = True, pixels: Pixels | None = None) -> IntegerSNN:
    snn = pascal.convert(ann, engine="integer", pixels=pixels)
    assert isinstance(snn, IntegerSNN)
    snn.int8 = int8
    return snn


def assert_same_integers(ann: nn.Module, batches: list[Tensor]) -> None:
    """Algorithm 1 on integers, counts in exact floating point and counts on INT8 kernels: bit for bit."""
    reference = integer(ann).stepwise()
    for int8 in (False, True):
        verification = pascal.verify(reference, integer(ann, int8), batches)
        assert verification.passed
        assert verification.max_logit_error == 0


@given(levels=st.lists(st.integers(1, 33), min_size=6, max_size=6), seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_branches_with_any_levels(levels: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    assert_same_integers(lively(Branches(), images(seed), levels), [images(seed), images(seed + 1)])


@given(levels=st.lists(st.integers(1, 9), min_size=8, max_size=8), seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_awkward_sums_with_any_levels(levels: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    assert_same_integers(lively(Awkward(), images(seed), levels), [images(seed)])


@given(levels=st.lists(st.integers(1, 16), min_size=19, max_size=19), seed=st.integers(0, 1000))
@settings(max_examples=8)
def test_residual_networks_with_mixed_levels(levels: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    ann = lively(pascal.build_network("resnet20", width=0.5), images(seed, 16), levels)
    assert_same_integers(ann, [images(seed, 16), images(seed + 1, 16)])


@pytest.mark.parametrize("pool", ["max", "avg"])
def test_vgg_with_both_poolings(pool: str) -> None:
    torch.manual_seed(0)
    ann = lively(pascal.build_network("vgg16", width=0.125, pool=pool), images(size=32), [1 + n % 7 for n in range(15)])
    assert_same_integers(ann, [images(size=32)])


def test_levels_that_bytes_cannot_hold_run_elsewhere() -> None:
    ann = lively(Branches(), images(), [200, 127, 128, 300, 3, 129])
    assert_same_integers(ann, [images()])


@pytest.mark.parametrize(("network", "tolerance"), [(Branches, 0.5), (Awkward, 8.0)])
def test_integers_follow_the_ann(network: type[nn.Module], tolerance: float) -> None:
    """Of 100 levels, rounded weights move a count by few: units are right on every path. Awkward amplifies."""
    torch.manual_seed(5)
    batch = images(batch=16)
    ann = lively(network(), batch, [100] * len(pascal.get_levels(network())))
    expected, got = observe(ann, batch).counts, observe(integer(ann), batch).counts
    for path, count in expected.items():
        assert float((got[path] - count).abs().float().mean()) < tolerance, path


def test_batch_size_and_threads_change_nothing() -> None:
    ann = lively(pascal.build_network("resnet20", width=0.5), images(size=16), [1 + n % 6 for n in range(19)])
    snn, batch = integer(ann), images(1, 16, 9)
    whole, counts = snn.record(batch)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert torch.equal(snn(batch), whole)
    finally:
        torch.set_num_threads(threads)
    for n in range(9):
        logits, own = snn.record(batch[n : n + 1])
        assert torch.equal(logits[0], whole[n])
        assert all(torch.equal(own[path][0], counts[path][n]) for path in counts)


@given(st.lists(st.integers(-(2**31), 2**31), min_size=1, max_size=8), st.integers(1, 40))
def test_shares_of_a_bias_sum_up_to_it(constant: list[int], timesteps: int) -> None:
    layer = IntegerAffine(torch.ones(len(constant)), torch.tensor(constant))
    shares = torch.stack([layer.share(timestep, timesteps) for timestep in range(timesteps)])
    assert torch.equal(shares.sum(0), layer.constant)
    assert int((shares.amax(0) - shares.amin(0)).max()) <= 1


def test_what_is_promised_of_the_numbers() -> None:
    torch.manual_seed(0)
    snn = integer(lively(Branches(), images(), [4, 2, 3, 1, 8, 5]), int8=False)
    network = snn.network(images())
    layers = {n: network.graph.get_submodule(str(n.target)) for n in network.graph.graph.nodes if n.op == "call_module"}
    for module in layers.values():
        if isinstance(module, IntegerWeighted):
            assert module.weight.dtype == torch.int8
            assert int(module.weight.min()) >= -127
            assert bool((module.weight.flatten(1).abs().amax(1) >= 32).all()), "channels use their bits"
        if isinstance(module, IntegerPASC):
            assert bool((module.threshold % 2 == 0).all())
            assert bool((module.threshold >= 2).all())
    assert sum(isinstance(module, IntegerWeighted) for module in layers.values()) == 6
    assert max(network.largest.values()) < 2**31


def test_no_value_exceeds_its_bound() -> None:
    torch.manual_seed(0)
    snn = integer(lively(Branches(), images(), [4, 2, 3, 1, 8, 5]), int8=False, pixels=Pixels(2**-5, 8))
    network = snn.network(images())
    run = torch.fx.Interpreter(network.graph, garbage_collect_values=False)
    run.run(snn.pixels.integers(images(batch=64).clamp(-3, 3)))
    reached = {node.name: value for node, value in run.env.items() if isinstance(value, Tensor)}
    shares = [
        float(value.abs().max()) / network.largest[name] for name, value in reached.items() if name in network.largest
    ]
    assert max(shares) <= 1
    assert max(shares) > 0.5, "the bounds mean something"


def test_overflow_is_refused_with_the_layer_named() -> None:
    """Layers without a neuron between them multiply their widths."""
    layers = [nn.Conv2d(3 if n == 0 else 64, 64, 3, padding=1) for n in range(6)]
    ann = nn.Sequential(*layers, QCFS(4, 1.0), nn.Flatten(), nn.Linear(64 * 64, 2)).eval()
    with pytest.raises(PascalError, match=r"^\d: needs an accumulator of \d\d bits, expected at most 54; put a QCFS"):
        integer(ann)(images())


def test_accumulators_beyond_32_bits_are_exact_too() -> None:
    torch.manual_seed(0)
    layers = [nn.Conv2d(3 if n == 0 else 64, 64, 3, padding=1) for n in range(2)]
    ann = lively(nn.Sequential(*layers, QCFS(4, 1.0), nn.Flatten(), nn.Linear(64 * 64, 2)), images(), [4])
    snn = integer(ann)
    assert max(snn.network(images()).largest.values()) > 2**32
    assert pascal.verify(snn.stepwise(), snn, images()).passed


def test_what_has_no_integers_is_refused_by_name() -> None:
    ann = nn.Sequential(nn.Conv2d(3, 4, 3), QCFS(4, 1.0), nn.Upsample(scale_factor=2, mode="bicubic"),
                        nn.Conv2d(4, 4, 3), QCFS(4, 1.0), nn.Flatten(), nn.Linear(400, 2)).eval()  # fmt: skip
    with pytest.raises(PascalError, match="bicubic interpolation has no whole weights"):
        integer(ann)(images())


def test_pixels_out_of_range_are_refused() -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    with pytest.raises(PascalError, match=r"got a pixel of 100.*convert with pixels=Pixels.fitted"):
        integer(ann)(torch.full((1, 3, 8, 8), 100.0))
    batch = images() * 100
    assert torch.isfinite(integer(ann, pixels=Pixels.fitted(batch))(batch)).all()


@pytest.mark.parametrize(("step", "bits"), [(0.0, 8), (float("nan"), 8), (1.0, 1), (1.0, 17)])
def test_impossible_pixels_are_refused(step: float, bits: int) -> None:
    with pytest.raises(PascalError, match=r"pixels\."):
        Pixels(step, bits)


def test_workloads_and_trains() -> None:
    snn = integer(lively(Branches(), images(), [4, 2, 3, 1, 8, 5]))
    _, trains = snn.trains(images())
    _, stepped = snn.stepwise().trains(images())
    assert all(torch.equal(trains[path], stepped[path]) for path in stepped)
    assert pascal.measure(snn, [images()]) == pascal.measure(snn.stepwise(), [images()])


def test_another_image_size_is_another_network() -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    snn = integer(ann)
    snn(images())
    assert pascal.verify(snn.stepwise(), snn, [images(size=10)]).passed


def test_a_state_is_not_loaded_behind_the_integers() -> None:
    snn = integer(lively(Branches(), images(), [4, 2, 3, 1, 8, 5]))
    with pytest.raises(PascalError, match="convert it again"):
        snn.load_state_dict(snn.state_dict())


def test_one_operand_twice_has_two_multipliers() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act, self.fc = QCFS(8, 1.0), nn.Linear(192, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.fc(self.act(torch.sub(x, x, alpha=0.5)).flatten(1))

    ann = Twice().eval()
    _, counts = pascal.convert(ann, engine="counts", example=images()).record(images())
    _, whole = pascal.convert(ann, engine="integer", example=images()).record(images())
    assert int((whole["act"] - counts["act"]).abs().max()) <= 1
