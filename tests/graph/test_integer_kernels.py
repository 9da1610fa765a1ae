"""INT8 kernels against integer arithmetic: every sum, every boundary."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from pascal.graph.integer.kernels import (
    Int8Currents,
    Int8Identity,
    Int8Meeting,
    Int8Neurons,
    as_bytes,
    have_kernels,
    max_pool_bytes,
    rounds_safely,
)
from pascal.graph.integer.modules import IntegerWeighted

pytestmark = pytest.mark.skipif(not have_kernels(torch.device("cpu")), reason="oneDNN has no INT8 layers here")


def layer(weight: Tensor, constant: Tensor, **options: int) -> IntegerWeighted:
    groups = options.get("groups", 1)
    shell = nn.Conv2d(weight.shape[1] * groups, len(weight), tuple(weight.shape[2:]), **options)  # type: ignore[arg-type]
    return IntegerWeighted(shell, weight, constant)


def exact(weighted: IntegerWeighted, counts: Tensor) -> Tensor:
    """The accumulator in float64, which is exact below 2⁵³."""
    assert weighted.dtype == torch.float64
    return weighted(counts)


def fired(preactivation: Tensor, threshold: Tensor, levels: int) -> Tensor:
    """⌊(z + θ/2)/θ⌋ in integer arithmetic."""
    theta = threshold.view(1, -1, 1, 1)
    return torch.div(preactivation.long() + theta // 2, theta, rounding_mode="floor").clamp(0, levels)


@pytest.mark.parametrize("weight", [-127, 127])
@pytest.mark.parametrize(
    ("channels", "options"), [(64, {}), (64, {"stride": 2, "padding": 1}), (32, {"groups": 32}), (3, {"dilation": 2})]
)
def test_the_largest_counts_and_weights_do_not_saturate(weight: int, channels: int, options: dict[str, int]) -> None:
    groups = options.get("groups", 1)
    full = layer(torch.full((32, channels // groups, 3, 3), weight), torch.arange(32), **options)
    counts = torch.full((2, channels, 9, 9), 127)
    currents = Int8Currents(full, torch.ones(32))(as_bytes(counts.float()))
    assert torch.equal(currents.double(), exact(full, counts))


@given(st.integers(1, 127), st.integers(0, 10**6))
def test_neurons_at_every_boundary(levels: int, seed: int) -> None:
    """Sums of one byte and one weight per input reach every whole number around every boundary."""
    generator = torch.Generator().manual_seed(seed)
    threshold = 2 * torch.randint(1, 2000, (64,), generator=generator)
    constant = torch.randint(-4000, 4000, (64,), generator=generator)
    weight = torch.randint(-127, 128, (64, 8, 1, 1), generator=generator)
    weight[:, 0], weight[:, 1] = 1, -1
    conv = layer(weight, constant)
    assert rounds_safely(conv, threshold, levels)
    counts = torch.randint(0, 128, (4, 8, 16, 16), generator=generator)
    expected = fired(exact(conv, counts), threshold, levels)
    assert torch.equal(Int8Neurons(conv, threshold, levels)(as_bytes(counts)).long(), expected)


@given(st.integers(1, 127), st.integers(0, 10**6))
def test_meetings_at_every_boundary(levels: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    threshold = 2 * torch.randint(1, 2000, (32,), generator=generator)
    conv = layer(torch.randint(-127, 128, (32, 8, 3, 3), generator=generator), torch.arange(-16, 16) * 99, padding=1)
    project = layer(torch.randint(-127, 128, (32, 32, 1, 1), generator=generator), torch.arange(32))
    multiplier = torch.randint(-900, 900, (32,), generator=generator)
    counts = torch.randint(0, levels + 1, (4, 8, 8, 8), generator=generator)
    joining = torch.randint(0, levels + 1, (4, 32, 8, 8), generator=generator)
    meeting = Int8Meeting(conv, threshold, levels)
    assert rounds_safely(conv, threshold, levels, 900 * levels)
    main = exact(conv, counts)
    got = meeting(as_bytes(counts), Int8Identity(multiplier, threshold)(as_bytes(joining)))
    assert torch.equal(got.long(), fired(main + multiplier.view(1, -1, 1, 1) * joining, threshold, levels))
    got = meeting(as_bytes(counts), Int8Currents(project, threshold)(as_bytes(joining)))
    assert torch.equal(got.long(), fired(main + exact(project, joining), threshold, levels))


def test_exact_ties_count_up() -> None:
    """z = (n − ½)θ is the first z of count n; one less is the last of n − 1."""
    threshold = torch.tensor([2, 6, 250, 254, 1998])
    identity = layer(torch.eye(5)[:, :, None, None], torch.zeros(5))
    for n in range(1, 9):
        first = (2 * n - 1) * threshold // 2
        for shift, count in ((0, n), (-1, n - 1)):
            constant = first + shift
            conv = IntegerWeighted(identity.weighted, identity.weight, constant)
            assert (
                Int8Neurons(conv, threshold, 9)(torch.zeros(1, 5, 1, 1, dtype=torch.uint8)).flatten().tolist()
                == [count] * 5
            )


@given(kernel=st.integers(1, 3), stride=st.integers(1, 3), padding=st.integers(0, 1), ceil_mode=st.booleans())
def test_max_pooling_of_bytes(kernel: int, stride: int, padding: int, ceil_mode: bool) -> None:
    counts = torch.randint(0, 128, (2, 5, 9, 8), generator=torch.Generator().manual_seed(kernel))
    padding = min(padding, kernel // 2)
    expected = F.max_pool2d(counts.float(), kernel, stride, padding, ceil_mode=ceil_mode)
    got = max_pool_bytes(as_bytes(counts), kernel, stride, padding, ceil_mode=ceil_mode)
    assert torch.equal(got.float(), expected)
