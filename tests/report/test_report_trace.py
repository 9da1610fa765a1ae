"""The trace of one neuron is Algorithm 1, number for number."""

from fractions import Fraction
from math import floor

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pascal.errors import PascalError
from pascal.neurons import pasc_spikes
from pascal.report.trace import EXAMPLE_CURRENTS, trace_pasc

DYADIC = st.integers(-64, 64).map(lambda number: number / 16)  # exact in binary, so `==` holds
LEVELS = st.integers(1, 9)


@given(st.lists(DYADIC, min_size=1, max_size=9), LEVELS, st.sampled_from([0.25, 0.5, 1.0, 2.0]))
def test_the_trace_emits_the_count_of_qcfs(currents, levels, step):
    emitted = sum(row["spike"] for row in trace_pasc(currents, step, levels) if row["phase"] == "emit")
    assert emitted == min(max(floor(Fraction(sum(currents)) / Fraction(step) + Fraction(1, 2)), 0), levels)


@given(st.lists(DYADIC, min_size=1, max_size=9), LEVELS)
def test_the_trace_spikes_when_the_neuron_does(currents, levels):
    spikes = pasc_spikes(torch.tensor(currents, dtype=torch.float64), 0.5, levels)
    emitted = [row["spike"] for row in trace_pasc(currents, 0.5, levels) if row["phase"] == "emit"]
    assert emitted == spikes.int().tolist()


@given(st.lists(DYADIC, min_size=1, max_size=9), LEVELS)
def test_phases_last_as_long_as_the_algorithm_says(currents, levels):
    phases = [row["phase"] for row in trace_pasc(currents, 1.0, levels)]
    lengths = [phases.count(phase) for phase in ("integrate", "settle", "emit")]
    assert lengths == [len(currents), max(len(currents), levels) - 1, levels]


@given(st.lists(DYADIC, min_size=1, max_size=9), LEVELS)
def test_every_spike_takes_one_step_from_the_membrane(currents, levels):
    for row in trace_pasc(currents, 0.5, levels):
        assert row["before"] - row["membrane"] == 0.5 * row["spike"]


def test_the_example_needs_an_inhibitory_spike():
    rows = trace_pasc(EXAMPLE_CURRENTS, 1.0, 4)
    assert [row["spike"] for row in rows] == [1, 1, 0, 0, -1, 0, 0, 1, 0, 0, 0]
    assert [row["membrane"] for row in rows[:5]] == [1.125, 1.5, -0.375, -0.125, 0.875]


@pytest.mark.parametrize(
    ("currents", "step", "levels", "message"),
    [([], 1.0, 4, "currents: got 0"), ([1.0], 0.0, 4, "step: got 0.0"), ([1.0], 1.0, 0, "levels: got 0")],
)
def test_bad_input_is_named(currents, step, levels, message):
    with pytest.raises(PascalError, match=message):
        trace_pasc(currents, step, levels)
