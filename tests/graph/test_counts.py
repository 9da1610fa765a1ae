"""The counts engine: the same spikes as timestep by timestep, in closed form."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import pascal
from benchmarks.networks import lively
from pascal import QCFS, PascalError
from pascal.graph.counts import CountsSNN
from pascal.neurons.counting import CountingPASC
from tests.graph.awkward import Awkward
from tests.graph.small import Branches
from tests.own_process import in_own_process


def images(seed: int = 0, size: int = 8, batch: int = 3) -> Tensor:
    return torch.randn(batch, 3, size, size, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def counting(ann: nn.Module, **options: bool) -> CountsSNN:
    snn = pascal.convert(ann, engine="counts", **options)  # type: ignore[arg-type]
    assert isinstance(snn, CountsSNN)
    return snn


def neurons(snn: CountsSNN) -> list[CountingPASC]:
    return [module for module in snn.modules() if isinstance(module, CountingPASC)]


@given(levels=st.lists(st.integers(1, 33), min_size=6, max_size=6), seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_branches_with_any_levels(levels: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    ann = lively(Branches(), images(seed), levels)
    snn = counting(ann)
    batches = [images(seed), images(seed + 1)]
    assert pascal.verify(pascal.convert(ann), snn, batches).passed
    assert pascal.verify(ann, snn, batches).passed


@given(
    seed=st.integers(0, 1000),
    levels=st.lists(st.integers(1, 9), min_size=3, max_size=3),
    step=st.sampled_from([0.25, 0.375, 0.75, 1.25, 3.0]),
)
def test_ties_are_exact_in_float32(seed: int, levels: list[int], step: float) -> None:
    """Dyadic weights and pixels make float32 exact and preactivations fall on level boundaries."""
    torch.manual_seed(seed)
    ann = nn.Sequential(nn.Linear(6, 8), QCFS(), nn.Linear(8, 8), QCFS(), nn.Linear(8, 8), QCFS(), nn.Linear(8, 4))
    for parameter in ann.parameters():
        if parameter.ndim:
            parameter.data = torch.randint(-4, 5, parameter.shape) * 0.125
    for qcfs, level in zip((ann[1], ann[3], ann[5]), levels, strict=True):
        qcfs.levels, qcfs.threshold = level, level * step
    batch = torch.randint(-4, 5, (16, 6)) * 0.25
    verification = pascal.verify(ann.eval(), counting(ann), [batch])
    assert verification.passed
    assert verification.max_logit_error == 0


@pytest.mark.parametrize("pool", ["max", "avg"])
@pytest.mark.parametrize("name", ["vgg16", "resnet18"])
def test_own_networks_carry_whole_numbers_on_every_edge(name: str, pool: str) -> None:
    torch.manual_seed(1)
    network = pascal.build_network(name, width=0.125, pool=pool)
    ann = lively(network, images(size=32), [1 + n % 5 for n in range(len(pascal.get_levels(network)))])
    snn = counting(ann)
    assert all(n.hands_on_counts and n.half_arrives and n.overwrites for n in neurons(snn))
    assert pascal.verify(pascal.convert(ann), snn, [images(size=32)]).passed


def test_trains_and_workloads_equal_those_of_the_stepwise_engine() -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    snn, stepwise = counting(ann), pascal.convert(ann)
    logits, trains = snn.trains(images())
    _, expected = stepwise.trains(images())
    assert list(trains) == list(expected)
    assert all(torch.equal(trains[path], expected[path]) for path in expected)
    assert torch.equal(logits, snn(images()))
    assert pascal.measure(snn, [images()]) == pascal.measure(stepwise, [images()]) == pascal.measure(ann, [images()])


def test_nothing_of_the_users_changes() -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    before = {name: value.clone() for name, value in ann.state_dict().items()}
    batch = images()
    counting(ann)(batch)
    assert torch.equal(batch, images())
    assert all(torch.equal(value, before[name]) for name, value in ann.state_dict().items())


@given(levels=st.lists(st.integers(1, 9), min_size=8, max_size=8), seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_what_cannot_be_folded_stays_right(levels: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    ann = lively(Awkward(), images(seed), levels)
    snn = counting(ann)
    assert pascal.verify(pascal.convert(ann), snn, [images(seed)]).passed
    assert not all(n.hands_on_counts for n in neurons(snn))


def test_a_state_is_not_loaded_half() -> None:
    snn = counting(lively(Branches(), images(), [4, 2, 3, 1, 8, 5]))
    with pytest.raises(PascalError, match="convert it again"):
        snn.load_state_dict(snn.state_dict())


@pytest.mark.slow
def test_compiled_agrees() -> None:
    compiled, expected = in_own_process(_logits_compiled_and_not)
    torch.testing.assert_close(compiled, expected, rtol=0, atol=1e-12)


def _logits_compiled_and_not() -> tuple[torch.Tensor, torch.Tensor]:
    ann = lively(pascal.build_network("resnet20", width=0.25), images(size=16), [1 + n % 5 for n in range(19)])
    return counting(ann, compiled=True)(images(size=16)).detach(), ann(images(size=16)).detach()
