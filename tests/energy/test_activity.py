"""Activity by layer and timestep, from counts alone."""

from dataclasses import replace
from math import isclose

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pascal.energy import Activity, layer_activity, timestep_activity
from pascal.errors import PascalError
from pascal.neurons.pasc import emit
from tests.energy.shapes import spiking, vgg16

HISTOGRAM = st.lists(st.integers(0, 50), min_size=2, max_size=9).filter(any)


@given(HISTOGRAM)
def test_activity_is_that_of_the_trains_which_algorithm_1_emits(histogram):
    counts = torch.repeat_interleave(torch.arange(len(histogram)), torch.tensor(histogram))
    trains = emit(counts, len(histogram) - 1)
    rows = timestep_activity({"x": histogram})
    assert [row.timestep for row in rows] == list(range(1, len(histogram)))
    assert [row.firing for row in rows] == [int(train.sum()) / len(counts) for train in trains]


@given(HISTOGRAM)
def test_activities_of_a_train_add_up_to_spikes_per_neuron(histogram):
    spikes = sum(count * number for count, number in enumerate(histogram)) / sum(histogram)
    assert isclose(sum(row.firing for row in timestep_activity({"x": histogram})), spikes, abs_tol=1e-12)


def test_mean_activity_of_each_layer():
    workloads = spiking(vgg16(10, 32), rate=0.5)
    rows = layer_activity([replace(workloads[0], levels=2), *workloads[1:]])
    assert rows[:2] == [Activity("act1_1", None, 0.25), Activity("act1_2", None, 0.125)]
    assert len(rows) == 15


@pytest.mark.parametrize("histogram", [[], [5], [0, 0, 0], [3, -1]])
def test_bad_histogram_is_refused_by_name(histogram):
    with pytest.raises(PascalError, match="histogram of 'x'"):
        timestep_activity({"x": histogram})


def test_unmeasured_layer_is_refused_by_name():
    with pytest.raises(PascalError, match="'act1_1': its spikes were not measured"):
        layer_activity(vgg16(10, 32))
