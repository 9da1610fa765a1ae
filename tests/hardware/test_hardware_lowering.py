"""Lowering against a plain im2col, and three ways to count matches against each other."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pascal.errors import PascalError
from pascal.hardware import LayerTrace, layer_trace
from pascal.hardware.cycles import count_matches
from pascal.hardware.lowering import Lowering, lower_activations, lower_filters
from pascal.workload import LayerWorkload
from tests.hardware.match_oracles import count_matches_bitwise, count_matches_matmul

Pair = tuple[int, int]


def _conv(
    rng: np.random.Generator, groups: int, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair
) -> LayerTrace:
    channels, filters = groups * int(rng.integers(1, 5)), groups * int(rng.integers(1, 4))
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    high, wide = (int(rng.integers(smallest, 9)) for smallest in reach)
    sizes = zip((high, wide), reach, stride, padding, strict=True)
    out = [(size + 2 * p - r) // s + 1 for size, r, s, p in sizes]
    workload = LayerWorkload(
        "conv", "conv", (channels, high, wide), (filters, *out), kernel, stride, padding, dilation, groups,
        producer_levels=4, levels=4, neurons=filters * out[0] * out[1],
    )  # fmt: skip
    weights = rng.integers(-1, 2, (filters, channels // groups, *kernel)).astype(np.int8)
    spikes = rng.integers(0, 5, (2, channels, high, wide)) * rng.integers(0, 2, (2, channels, high, wide))
    return layer_trace(workload, weights, spikes.astype(np.uint8), [3, 4])


def _naive(layer: LayerTrace, image: int) -> tuple[NDArray, NDArray]:
    """Matches and spikes on weights per output, straight from the definition of a convolution. Shape: (M, N) each."""
    w, spikes = layer.workload, layer.spikes_of(image)
    assert spikes is not None
    filters, high, wide = w.output_shape
    matches, added = np.zeros((2, high * wide, filters), int)
    per_group = filters // w.groups
    for n, y, x in itertools.product(range(filters), range(high), range(wide)):
        for c, ky, kx in itertools.product(*map(range, layer.weights.shape[1:])):
            down = y * w.stride[0] + ky * w.dilation[0] - w.padding[0]
            right = x * w.stride[1] + kx * w.dilation[1] - w.padding[1]
            inside = 0 <= down < w.input_shape[1] and 0 <= right < w.input_shape[2]
            if inside and layer.weights[n, c, ky, kx]:
                count = int(spikes[n // per_group * layer.weights.shape[1] + c, down, right])
                matches[y * wide + x, n] += count > 0
                added[y * wide + x, n] += count
    return matches, added


def _pairs(smallest: int, largest: int) -> st.SearchStrategy[Pair]:
    return st.tuples(st.integers(smallest, largest), st.integers(smallest, largest))


@given(
    seed=st.integers(0, 10**6),
    groups=st.integers(1, 3),
    kernel=_pairs(1, 3),
    stride=_pairs(1, 2),
    padding=_pairs(0, 2),
    dilation=_pairs(1, 2),
    chunk=st.sampled_from([4, 32, 64, 128]),
    k_order=st.sampled_from(["cmajor", "pixmajor"]),
)
def test_masks_are_those_of_the_convolution(
    seed: int, groups: int, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, chunk: int, k_order: str
) -> None:
    layer = _conv(np.random.default_rng(seed), groups, kernel, stride, padding, dilation)
    lowering = Lowering(chunk, k_order, "expand")
    filters, activations = lower_filters(layer, lowering), lower_activations(layer, 1, lowering)
    matches = count_matches(activations.masks, filters.masks)
    expected, added = _naive(layer, 1)
    assert np.array_equal(matches.sum(2), expected)
    assert (activations.column_spikes * filters.fan_out).sum() == added.sum()
    assert filters.positions.sum() == filters.columns
    assert np.array_equal(matches, count_matches_bitwise(activations.masks, filters.masks))
    assert np.array_equal(matches, count_matches_matmul(activations.masks, filters.masks))


def _pooled(rng: np.random.Generator, kind: str, words: bool = False) -> LayerTrace:
    """A layer after 2×2 average pooling: 3×3 convolution with padding, or fully connected on a 2×2 map."""
    spikes = rng.integers(0, 16 if words else 5, (1, 3, 4, 4)).astype(np.uint8)
    spikes[0, 0] = 0
    if kind == "conv":
        workload = LayerWorkload(
            "pooled", "conv", (3, 2, 2), (5, 2, 2), (3, 3), (1, 1), (1, 1), (1, 1),
            producer_levels=4, levels=4, neurons=20,
        )  # fmt: skip
        weights = rng.integers(-1, 2, (5, 3, 3, 3))
    else:
        workload = LayerWorkload("pooled", "linear", (12,), (5,), producer_levels=4, levels=4, neurons=5)
        weights = rng.integers(-1, 2, (5, 12))
    return layer_trace(workload, weights.astype(np.int8), spikes, [0], pool=(2, 2), timesteps=4 if words else None)


@pytest.mark.parametrize("kind", ["conv", "linear"])
def test_average_pooling_expands_into_a_larger_kernel(kind: str) -> None:
    layer = _pooled(np.random.default_rng(0), kind)
    lowering = Lowering(128, "cmajor", "expand")
    filters, activations = lower_filters(layer, lowering), lower_activations(layer, 0, lowering)
    spikes = layer.spikes_of(0)
    assert spikes is not None
    # Every pooled position stands for its four inputs, so counts of the window add up.
    windows = spikes.astype(int).reshape(3, 2, 2, 2, 2).sum((2, 4))
    weights = (layer.weights != 0).astype(int)
    if kind == "linear":
        expected = int((weights @ windows.reshape(-1)).sum())
    else:
        padded = np.pad(windows, ((0, 0), (1, 1), (1, 1)))
        shifts = itertools.product(range(2), repeat=2)
        expected = sum(int((weights * padded[:, y : y + 3, x : x + 3]).sum()) for y, x in shifts)
    assert int((activations.column_spikes * filters.fan_out).sum()) == expected
    assert filters.columns == 4 * np.prod(layer.weights.shape[1:])


@pytest.mark.parametrize("words", [False, True])
def test_an_ideal_average_pool_hands_on_one_word(words: bool) -> None:
    layer = _pooled(np.random.default_rng(1), "conv", words)
    lowering = Lowering(128, "cmajor", "ideal")
    activations = lower_activations(layer, 0, lowering)
    spikes = layer.spikes_of(0)
    assert spikes is not None
    windows = spikes.reshape(3, 2, 2, 2, 2)
    joined = np.bitwise_count(np.bitwise_or.reduce(windows, (2, 4))) if words else windows.max((2, 4))
    assert lower_filters(layer, lowering).columns == 27
    # Each pooled neuron is read by the four output pixels around it.
    assert activations.column_spikes.sum() == 4 * joined.sum()


def test_pixels_match_wherever_a_weight_is() -> None:
    workload = LayerWorkload(
        "first", "conv", (3, 4, 4), (2, 4, 4), (3, 3), (1, 1), (1, 1), (1, 1), levels=4, neurons=32
    )
    weights = np.ones((2, 3, 3, 3), bool)
    weights[1, 0] = False
    layer = layer_trace(workload, weights, None, [0])
    lowering = Lowering(128, "cmajor", "expand")
    matches = count_matches(lower_activations(layer, 0, lowering).masks, lower_filters(layer, lowering).masks)
    assert (matches[:, 0] == 27).all()
    assert (matches[:, 1] == 18).all()


def test_a_map_of_another_network_is_refused() -> None:
    workload = LayerWorkload(
        "wrong", "conv", (3, 4, 4), (2, 9, 9), (3, 3), (1, 1), (1, 1), (1, 1), producer_levels=4, levels=4
    )
    layer = layer_trace(workload, np.ones((2, 3, 3, 3), bool), np.zeros((1, 3, 4, 4), np.uint8), [0])
    with pytest.raises(PascalError, match=r"wrong.*\(2, 9, 9\)"):
        lower_filters(layer, Lowering(128, "cmajor", "expand"))
