"""Traces: packed, saved and loaded without loss, refused when they do not fit the network."""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pascal.errors import PascalError
from pascal.hardware import Trace, check_trace, layer_trace, load_trace, network_trace, save_trace
from pascal.hardware.bitplanes import bits_of, pack_planes, unpack_planes
from pascal.workload import LayerWorkload

FIRST = LayerWorkload(
    "stem", "conv", (3, 4, 4), (5, 4, 4), (3, 3), (1, 1), (1, 1), (1, 1), activation="act", levels=4, neurons=80
)
FC = LayerWorkload("fc", "linear", (80,), (7,), producers=("act",), producer_levels=4)


def _trace(masks: bool = False, timesteps: int | None = None) -> Trace:
    rng = np.random.default_rng(0)
    stem, fc = rng.integers(-3, 4, (5, 3, 3, 3)).astype(np.int8), rng.integers(-3, 4, (7, 80)).astype(np.int8)
    spikes = rng.integers(0, 5 if timesteps is None else 1 << timesteps, (6, 80)).astype(np.uint8)
    return network_trace(
        [
            layer_trace(FIRST, stem != 0 if masks else stem, None, range(6), timesteps=timesteps),
            layer_trace(FC, fc != 0 if masks else fc, spikes, range(6), timesteps=timesteps),
        ]
    )


@given(st.integers(1, 16), st.integers(0, 10**6), st.integers(1, 70))
def test_bit_planes_keep_every_count(levels: int, seed: int, size: int) -> None:
    counts = np.random.default_rng(seed).integers(0, levels + 1, (2, size)).astype(np.uint8)
    planes = pack_planes(counts, bits_of(levels))
    assert planes.shape == (2, int(np.ceil(np.log2(levels + 1))), -(-size // 8))
    assert np.array_equal(unpack_planes(planes[1], size), counts[1])


@pytest.mark.parametrize("masks", [False, True])
@pytest.mark.parametrize("timesteps", [None, 6])
def test_a_trace_survives_its_file_and_its_bytes_are_reproducible(
    tmp_path: Path, masks: bool, timesteps: int | None
) -> None:
    trace = _trace(masks, timesteps)
    save_trace(tmp_path / "a.npz", trace)
    save_trace(tmp_path / "b.npz", load_trace(tmp_path / "a.npz"))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    loaded = load_trace(tmp_path / "b.npz")
    assert (loaded.neuron, loaded.images, loaded.workloads) == (trace.neuron, 6, trace.workloads)
    for old, new in zip(trace.layers, loaded.layers, strict=True):
        assert np.array_equal(old.weights, new.weights)
        assert old.weights.dtype == new.weights.dtype
        assert np.array_equal(old.active_outputs, new.active_outputs)
        assert (old.map_shape, old.pool, old.words) == (new.map_shape, new.pool, new.words)
        for image in range(6):
            assert np.array_equal(old.spikes_of(image), new.spikes_of(image))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_plain_trains_carry_their_own_timesteps() -> None:
    trace = _trace(timesteps=6)
    assert trace.neuron == "if"
    assert [(w.producer_levels, w.levels) for w in trace.workloads] == [(None, 6), (6, None)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": np.ones((7, 81), np.int8)}, ["fc", "(7, 81)", "(7, 80)"]),
        ({"weights": np.ones((7, 80), np.float32)}, ["fc", "float32", "int8"]),
        ({"spikes": None}, ["fc", "nothing"]),
        ({"spikes": np.ones((2, 80))}, ["fc", "float64"]),
        ({"spikes": np.full((2, 80), 5, np.uint8)}, ["fc", "5", "4"]),
        ({"spikes": np.ones((3, 80), np.uint8)}, ["fc", "3 images", "2 images"]),
        ({"timesteps": 12, "spikes": np.ones((2, 80), np.uint8)}, ["fc", "uint8", "12 bits"]),
    ],
)
def test_a_layer_that_does_not_fit_is_refused_by_name(change: dict[str, Any], words: list[str]) -> None:
    arguments: dict[str, Any] = {
        "weights": np.ones((7, 80), np.int8),
        "spikes": np.ones((2, 80), np.uint8),
        "active_outputs": [0, 0],
    }
    with pytest.raises(PascalError) as error:
        layer_trace(FC, **(arguments | change))
    assert all(word in str(error.value) for word in words)


def test_empty_and_mixed_traces_are_refused() -> None:
    with pytest.raises(PascalError, match="no layers"):
        network_trace([])
    empty = layer_trace(FIRST, np.ones((5, 3, 3, 3), bool), None, [])
    with pytest.raises(PascalError, match="no images"):
        network_trace([empty])
    layers = _trace().layers
    with pytest.raises(PascalError, match="more than once"):
        network_trace([layers[0], layers[0]])
    with pytest.raises(PascalError, match=r"fc.*stem"):
        network_trace([layers[0], _trace(timesteps=6).layers[1]])


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ([FIRST], ["fc"]),
        ([FIRST, replace(FC, producer_levels=8)], ["fc", "producer_levels", "4", "8"]),
        ([replace(FIRST, stride=(2, 2)), FC], ["stem", "stride"]),
    ],
)
def test_a_trace_of_another_network_is_refused(network: list[LayerWorkload], words: list[str]) -> None:
    check_trace(_trace(), [FIRST, FC])
    with pytest.raises(PascalError) as error:
        check_trace(_trace(), network)
    assert all(word in str(error.value) for word in [*words, "disagree"])


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.npz", tmp_path / "bad.npz"
    save_trace(good, _trace())
    bad.write_bytes(good.read_bytes()[:-200])
    with pytest.raises(PascalError, match=r"bad\.npz"):
        load_trace(bad)
    with pytest.raises(PascalError, match=r"absent\.npz"):
        load_trace(tmp_path / "absent.npz")
    np.savez(bad, weights=np.ones(3))
    with pytest.raises(PascalError, match="header"):
        load_trace(bad)
    with np.load(good) as file:
        arrays = dict(file)
    np.savez(bad, **(arrays | {"1.spikes": arrays["1.spikes"][:, :2]}))
    with pytest.raises(PascalError, match="fc"):
        load_trace(bad)
    np.savez(bad, **{name: array for name, array in arrays.items() if name != "1.spikes"})
    with pytest.raises(PascalError, match="fc"):
        load_trace(bad)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "objects.npz", header=np.array([{"version": 1}], dtype=object))
    assert zipfile.is_zipfile(tmp_path / "objects.npz")
    with pytest.raises(PascalError, match="objects"):
        load_trace(tmp_path / "objects.npz")
