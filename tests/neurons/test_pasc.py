"""Theorems 3.4 and 3.5 as properties. Dyadic numbers are exact in floating point, so the assertions are `==`."""

from fractions import Fraction
from itertools import pairwise, product
from math import floor

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pascal import PascalError, if_spikes, pasc_spikes, qcfs_count
from pascal.neurons.pasc import emit, integrate, settle

LEVELS = range(1, 17)


def exact_count(preactivation: Fraction, step: Fraction, levels: int) -> int:
    """eq. 1 in rational arithmetic."""
    return min(max(floor(preactivation / step + Fraction(1, 2)), 0), levels)


def dyadic(shape: tuple[int, ...], generator: torch.Generator, spread: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(-spread, spread + 1, shape, generator=generator).to(dtype) / 64


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_theorem_3_4_all_pairs_of_levels(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    for before, after in product(LEVELS, LEVELS):
        # Sums from far below zero to far above saturation; multiples of half a step are exact ties.
        step = 2.0 ** int(torch.randint(-5, 3, (), generator=generator))
        currents = dyadic((before, 500), generator, int(64 * step * after), dtype)
        currents[:, :100] = (currents[:, :100] / (step / 2)).round() * (step / 2)
        spikes = pasc_spikes(currents, step, after)
        assert spikes.dtype == torch.bool  # part (b): every spike is worth 0 or one step
        assert spikes.shape == (after, 500)
        count = spikes.sum(0)
        expected = [exact_count(Fraction(z), Fraction(step), after) for z in currents.sum(0).tolist()]
        assert count.tolist() == expected, (before, after)  # part (a)
        assert torch.equal(qcfs_count(currents.sum(0), step, after), count.int())


@given(
    shape=st.lists(st.integers(1, 4), max_size=4),
    before=st.integers(1, 16),
    after=st.integers(1, 16),
    step=st.sampled_from([0.25, 0.375, 1.0, 1.25, 8.0]),
    seed=st.integers(0, 2**32),
)
def test_any_shape(shape: list[int], before: int, after: int, step: float, seed: int) -> None:
    currents = dyadic((before, *shape), torch.Generator().manual_seed(seed), int(64 * step * after), torch.float64)
    spikes = pasc_spikes(currents, step, after)
    assert spikes.shape == (after, *shape)
    assert torch.equal(spikes.sum(0).int(), qcfs_count(currents.sum(0), step, after))


@given(
    currents=st.lists(st.integers(-1000, 1000), min_size=1, max_size=16),
    half_step=st.integers(1, 300),
    after=st.integers(1, 16),
)
def test_integers_are_exact(currents: list[int], half_step: int, after: int) -> None:
    spikes = pasc_spikes(torch.tensor(currents, dtype=torch.int32), 2 * half_step, after)
    assert int(spikes.sum()) == exact_count(Fraction(sum(currents)), Fraction(2 * half_step), after)


def test_a_float_step_is_not_rounded_to_float32() -> None:
    step = 0.1  # not dyadic: as float32 it would differ from the double, and the sums with it
    currents = torch.full((3, 1), step, dtype=torch.float64)
    membrane, _, _ = integrate(currents, step)
    by_hand = step / 2
    for _ in range(3):
        by_hand += step
        by_hand -= step if by_hand >= step else 0
    assert membrane.item() == by_hand


@given(seed=st.integers(0, 2**32), before=st.integers(1, 16), after=st.integers(1, 16))
def test_trains_are_earliest_first(seed: int, before: int, after: int) -> None:
    currents = dyadic((before, 50), torch.Generator().manual_seed(seed), 64 * after, torch.float32)
    spikes = pasc_spikes(currents, 1.0, after)
    assert all(bool((earlier >= later).all()) for earlier, later in pairwise(spikes))


@given(seed=st.integers(0, 2**32), levels=st.integers(1, 32))
def test_theorem_3_5_one_input_timestep_is_algorithm_2(seed: int, levels: int) -> None:
    image = dyadic((200,), torch.Generator().manual_seed(seed), 100 * levels, torch.float64)
    threshold = 0.75 * levels
    assert torch.equal(pasc_spikes(image[None], threshold / levels, levels), algorithm_2(image, threshold, levels))


def algorithm_2(image: torch.Tensor, threshold: float, levels: int) -> torch.Tensor:
    """Algorithm 2 with line 3 as the proof states it: membrane θ·clip(⌊XL/θ + φ⌋/L, 0, 1), in units of θ/L."""
    membrane = torch.floor(image / (threshold / levels) + 0.5).clamp(0, levels)
    spikes = []
    for _ in range(levels):
        fired = membrane >= 1
        membrane = membrane - fired.to(membrane.dtype)
        spikes.append(fired)
    return torch.stack(spikes)


def test_phase_2_reaches_beyond_the_printed_table() -> None:
    # The paper's mapping table ends at s = 2·L_n − 1 = 7; with (8, 4) the count after phase 2 reaches 8 + 8 − 1.
    membrane, count, timesteps = integrate(torch.full((8, 1), 100.0), 1.0)
    assert settle(membrane, count, 1.0, max(timesteps, 4) - 1).item() == 15


def test_without_inhibition_the_count_is_wrong() -> None:
    currents = torch.tensor([[2.0], [-1.5]])  # fires early, then the input is taken back: the level is 1, not 2
    _, count, _ = integrate(currents, 0.5)
    assert count.item() == 1
    assert pasc_spikes(currents, 0.5, 4).sum() == qcfs_count(currents.sum(0), 0.5, 4)
    late = torch.tensor([[1.0], [-2.0]])
    assert integrate(late, 1.0)[1].item() == 1
    assert pasc_spikes(late, 1.0, 4).sum() == 0


@pytest.mark.parametrize(("count", "train"), [(-3, "0000"), (0, "0000"), (2, "1100"), (4, "1111"), (9, "1111")])
def test_emission_clips(count: int, train: str) -> None:
    assert "".join(str(int(s)) for s in emit(torch.tensor(count), 4)) == train


def test_currents_may_stream() -> None:
    currents = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    assert torch.equal(pasc_spikes(iter(currents), 0.3, 7), pasc_spikes(currents, 0.3, 7))


@pytest.mark.parametrize("levels", [0, -1, 2.5, True, "4", None])
def test_bad_levels(levels: object) -> None:
    with pytest.raises(PascalError, match="levels: got"):
        pasc_spikes(torch.ones(1, 1), 1.0, levels)  # type: ignore[arg-type]


def test_bad_currents_and_steps() -> None:
    with pytest.raises(PascalError, match="0 timesteps"):
        pasc_spikes(torch.ones(0, 3), 1.0, 4)
    with pytest.raises(PascalError, match="step: got"):
        pasc_spikes(torch.ones(1, 3), 0.0, 4)
    with pytest.raises(PascalError, match="even integer step"):
        pasc_spikes(torch.ones(1, 3, dtype=torch.int32), 3, 4)


@given(
    currents=st.lists(st.integers(-200, 200), min_size=1, max_size=40),
    threshold=st.integers(1, 50).map(lambda n: 2 * n),
)
def test_plain_if_is_the_textbook_neuron(currents: list[int], threshold: int) -> None:
    membrane, expected = threshold // 2, []
    for current in currents:
        membrane += current
        expected.append(membrane >= threshold)
        membrane -= threshold if expected[-1] else 0
    assert if_spikes(torch.tensor(currents), threshold).tolist() == expected


def test_plain_if_misses_what_pasc_keeps() -> None:
    currents = torch.tensor([-1.0, -1.0, 4.0, 0.0])  # level 2 of 4, but the late input leaves time for two spikes only
    assert qcfs_count(currents.sum(), 1.0, 4) == 2
    late = torch.tensor([-3.0, 0.0, 0.0, 6.0])
    assert qcfs_count(late.sum(), 1.0, 4) == 3
    assert if_spikes(late, 1.0).sum() == 1
    assert pasc_spikes(late, 1.0, 4).sum() == 3
