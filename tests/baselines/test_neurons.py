"""Single layers on random uneven currents: what is exact, and by how much the others miss."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pascal.baselines.cos import calibrated_start
from pascal.baselines.ftbc import biased, errors_over_time
from pascal.baselines.group import group_counts
from pascal.baselines.parallel import parallel_spikes
from pascal.baselines.radix import bits_of, radix_spikes
from pascal.baselines.srp import residual_mask
from pascal.baselines.st_bif import signed_spikes
from pascal.neurons import if_spikes, pasc_spikes, qcfs_count

STEP = 0.25  # dyadic, as the currents are: every sum is exact


def dyadic_currents(timesteps: int, seed: int, neurons: int = 4096) -> Tensor:
    """Uneven currents of multiples of 1/16."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-12, 17, (timesteps, 1, neurons), generator=generator) / 16


levels_and_seed = given(
    st.integers(1, 9), st.integers(1, 17), st.integers(0, 2**16)
)  # timesteps of the producer, levels, seed


@levels_and_seed
def test_parallel_is_pasc_spike_for_spike(timesteps: int, levels: int, seed: int) -> None:
    currents = dyadic_currents(timesteps, seed)
    assert torch.equal(parallel_spikes(currents, STEP, levels), pasc_spikes(currents, STEP, levels))


@levels_and_seed
def test_signed_settles_at_the_level(timesteps: int, levels: int, seed: int) -> None:
    currents = dyadic_currents(timesteps, seed)
    drain = torch.zeros(levels - 1, *currents.shape[1:])
    trains, rests = signed_spikes(torch.cat([currents, drain]), STEP, levels)
    assert rests
    assert torch.equal(trains.sum(0, dtype=torch.int32), qcfs_count(currents.sum(0), STEP, levels))
    partial = trains.cumsum(0)
    assert partial.min() >= 0
    assert partial.max() <= levels


@levels_and_seed
def test_group_counts_the_level(timesteps: int, levels: int, seed: int) -> None:
    currents = dyadic_currents(timesteps, seed)
    assert torch.equal(group_counts(currents, STEP, levels)[0], qcfs_count(currents.sum(0), STEP, levels))


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 2**16))
def test_radix_writes_the_level_in_binary(timesteps: int, bits: int, seed: int) -> None:
    currents = dyadic_currents(timesteps, seed)
    spikes = radix_spikes(currents, STEP, bits)
    worth = 2 ** torch.arange(bits - 1, -1, -1)[:, None, None]
    assert torch.equal((spikes * worth).sum(0).int(), qcfs_count(currents.sum(0), STEP, 2**bits - 1))


def test_radix_needs_levels_of_whole_bits() -> None:
    assert [bits_of(levels) for levels in (1, 3, 7, 15, 2, 4, 8)] == [1, 2, 3, 4, None, None, None]


NOISE = {4: 0.4, 8: 0.35, 16: 0.3}  # by timesteps: plain IF counts 8 to 11 % of the neurons wrongly


def uneven(timesteps: int, neurons: int = 100_000) -> Tensor:
    """Per-timestep currents around a common drive, threshold 1."""
    generator = torch.Generator().manual_seed(0)
    drive = torch.rand(1, 1, neurons, generator=generator, dtype=torch.float64) * 1.6 - 0.3
    return drive + torch.randn(timesteps, 1, neurons, generator=generator, dtype=torch.float64) * NOISE[timesteps]


def wrong(counts: Tensor, currents: Tensor) -> float:
    """Share of neurons whose count is not the ANN's level."""
    timesteps = len(currents)
    expected = qcfs_count(currents.mean(0), 1 / timesteps, timesteps)
    return float((counts != expected).double().mean())


@pytest.mark.parametrize("timesteps", [4, 8, 16])
def test_offset_calibration_and_residual_mask(timesteps: int) -> None:
    """Two rounds of COS leave fewer than 0.1 % wrong; SRP is never worse than plain IF."""
    currents = uneven(timesteps)
    plain = wrong(if_spikes(currents, 1.0).sum(0), currents)
    rounds = [
        wrong(if_spikes(currents, 1.0, start=calibrated_start(currents, 1.0, k)).sum(0), currents) for k in (1, 2, 8)
    ]
    assert 0.08 < plain < 0.12
    assert plain > rounds[0] >= rounds[1]
    assert rounds[1] < 0.001
    assert rounds[2] <= rounds[1]
    masked = if_spikes(currents, 1.0) & residual_mask(currents, 1.0)
    assert wrong(masked.sum(0), currents) <= plain


def test_calibration_without_timesteps_changes_nothing() -> None:
    currents = uneven(4, 1000)
    start = calibrated_start(currents, 1.0, iterations=0)
    assert torch.equal(if_spikes(currents, 1.0, start=start), if_spikes(currents, 1.0))


def test_biases_of_zero_change_nothing_and_errors_have_the_sign_of_the_excess() -> None:
    currents = uneven(4, 1000).transpose(1, 2).expand(-1, -1, 3)  # 1,000 images, 3 channels
    zero = torch.zeros(4, 3, dtype=torch.float64)
    assert torch.equal(if_spikes(biased(currents, zero), 1.0), if_spikes(currents, 1.0))
    silent, busy = torch.zeros_like(currents[0]), torch.ones_like(currents[0])
    assert (errors_over_time(currents, 1.0, silent) >= 0).all()
    assert (errors_over_time(currents, 1.0, busy) <= 0).all()
