"""Memory: tiles, misses and bytes against a walk that fetches tile by tile; stalls by hand."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from pascal.accelerators.accelerator import Accelerator
from pascal.hardware import Trace, accelerator_from_params, layer_trace, network_trace, simulate
from pascal.hardware.memory import stall_cycles, tile_misses
from pascal.workload import LayerWorkload


def _layer(rng: np.random.Generator, groups: int) -> Trace:
    """A 1×1 convolution, so that rows of the matrix are pixels of the map."""
    columns, filters, rows = (
        groups * int(rng.integers(3, 60)),
        groups * int(rng.integers(2, 9)),
        int(rng.integers(2, 12)),
    )
    workload = LayerWorkload(
        "layer", "conv", (columns, rows, 1), (filters, rows, 1), (1, 1), (1, 1), (0, 0), (1, 1), groups,
        macs=1, fan_in=columns // groups, producer_levels=4, levels=4, neurons=rows * filters,
    )  # fmt: skip
    weights = rng.integers(-1, 2, (filters, columns // groups, 1, 1)).astype(np.int8)
    spikes = (rng.integers(1, 5, (1, columns, rows, 1)) * (rng.random((1, columns, rows, 1)) < 0.4)).astype(np.uint8)
    return network_trace([layer_trace(workload, weights, spikes, [7])])


def _walk(trace: Trace, accelerator: Accelerator) -> tuple[float, float]:
    """DRAM and SRAM-read bits, tile by tile in the machine's order, with caches that hold tiles."""
    layer = trace.layers[0]
    counts, weights = layer.spikes_of(0)[:, :, 0], layer.weights[:, :, 0, 0] != 0  # type: ignore[index]
    groups, chunk = layer.workload.groups, accelerator.chunk
    per_group, columns = len(weights) // groups, weights.shape[1]
    by_rows = accelerator.machine == "loas"
    row_size, filter_size = (accelerator.pes, accelerator.tile)[:: 1 if by_rows else -1]
    row_tiles = [range(s, min(s + row_size, counts.shape[1])) for s in range(0, counts.shape[1], row_size)]
    filter_tiles = [
        range(g * per_group + s, g * per_group + min(s + filter_size, per_group))
        for g in range(groups)
        for s in range(0, per_group, filter_size)
    ]
    pairs = (
        [(r, f) for r in row_tiles for f in filter_tiles]
        if by_rows
        else [(r, f) for f in filter_tiles for r in row_tiles]
    )
    caches = [
        (OrderedDict(), entries // (max(map(len, tiles)) * chunk))
        for entries, tiles in ((accelerator.activation_entries, row_tiles), (accelerator.weight_entries, filter_tiles))
    ]
    word = accelerator.act_bits if accelerator.machine == "sparten" else 4
    dram = sram = 0.0
    for rows, filters in pairs:
        group = filters[0] // per_group
        for start in range(0, columns, chunk):
            k = slice(start, start + chunk)
            inputs = counts[group * columns : (group + 1) * columns][k][:, list(rows)] > 0
            own = weights[list(filters)][:, k]
            for (cache, capacity), key, bits in (
                (caches[0], (rows[0], group, start), int(inputs.sum()) * word + inputs.size),
                (caches[1], (filters[0], start), (int(own.sum()) * 8 + own.size) / accelerator.batch),
            ):
                if key not in cache:
                    dram += bits
                    if len(cache) >= max(capacity, 1):
                        cache.popitem(last=False)
                    cache[key] = True
                elif accelerator.replacement == "lru":
                    cache.move_to_end(key)
            sram += int(own.sum()) * 8 + own.size + inputs.size + int((own.astype(int) @ inputs).sum()) * word
    return dram, sram


@pytest.mark.parametrize("seed", range(24))
def test_traffic_is_that_of_a_walk_over_the_tiles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trace = _layer(rng, int(rng.integers(1, 3)))
    machine, neuron = [("loas", "pasc"), ("sparten", "qcfs")][seed % 2]
    block: dict[str, Any] = {
        "pes": int(rng.integers(1, 5)),
        "tile": int(rng.integers(1, 5)),
        "chunk": 8,
        "activation_entries": int(rng.integers(1, 300)),
        "weight_entries": int(rng.integers(1, 300)),
        "replacement": ["fifo", "lru"][seed // 2 % 2],
        "batch": int(rng.integers(1, 4)),
    }
    dram, sram_read = _walk(trace, accelerator_from_params(block, machine))
    run = simulate(trace, machine, neuron, block)
    outputs = trace.workloads[0].neurons
    written = outputs + 7 * (8 if machine == "sparten" else 4)
    assert run.mean("dram_bit") == pytest.approx(dram + written, rel=1e-12)
    assert run.mean("sram_read_byte") * 8 == pytest.approx(sram_read, rel=1e-12)
    assert run.mean("sram_write_byte") * 8 == pytest.approx(dram + written, rel=1e-12)


def test_fifo_and_lru_evict_different_tiles() -> None:
    visits = np.array([0, 1, 0, 2, 0])
    assert tile_misses(visits, 2, "fifo").tolist() == [True, True, False, True, True]
    assert tile_misses(visits, 2, "lru").tolist() == [True, True, False, True, False]
    assert tile_misses(visits, 0, "fifo").tolist() == [True] * 5


def test_a_tile_loads_behind_the_one_before() -> None:
    # exposed: the first load, 5, then 7 − 4 and 0 of 2 − 9
    assert stall_cycles(np.array([5.0, 7.0, 2.0]), np.array([4.0, 9.0, 1.0])) == 8
    assert stall_cycles(np.array([0.25]), np.array([4.0])) == 1


def test_slow_memory_stalls_and_switched_off_memory_does_not_exist() -> None:
    trace = _layer(np.random.default_rng(0), 1)
    slow, fast, none = (simulate(trace, preset=block) for block in ({"dram_gb_per_s": 1.0}, {}, {"memory": False}))
    assert slow.mean("stall_cycles") > fast.mean("stall_cycles") > none.mean("stall_cycles") == 0
    assert slow.mean("dram_bit") == fast.mean("dram_bit") > none.mean("dram_bit") == 0
    assert none.energy_pj(("sram", "dram")).sum() == 0


def test_loas_scripts_write_back_the_im2col_matrix() -> None:
    rng = np.random.default_rng(0)
    workload = LayerWorkload(
        "layer", "conv", (2, 4, 4), (3, 4, 4), (3, 3), (1, 1), (1, 1), (1, 1), producer_levels=4, levels=4, neurons=48
    )
    spikes = rng.integers(0, 5, (1, 2, 4, 4)).astype(np.uint8)
    trace = network_trace([layer_trace(workload, np.ones((3, 2, 3, 3), bool), spikes, [20])])
    one, nine = (simulate(trace, preset={"writeback": style}).mean("dram_bit") for style in ("map", "im2col"))
    assert nine - one == 8 * (48 + 20 * 4)
