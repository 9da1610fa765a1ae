"""How fast the simulators are: full-width VGG-16 on CIFAR-10 shapes, random spikes and INT8 weights.

`python -m benchmarks.speed.hardware benchmarks/speed/hardware_speed.csv` writes the table. The target is 60 ms per
image and machine on one core, in CPU time, which other work on the machine disturbs least.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from benchmarks.networks import vgg16_workloads
from pascal.hardware import Trace, layer_trace, network_trace
from pascal.hardware.simulate import Variant, make_variant, simulate_variants
from pascal.hardware.sources import make_source

TARGET_MS = 60.0
MACHINES = {
    "LoAS, PASC": ("loas", "pasc", "pascal40"),
    "LoAS, PASC, pipelined": ("loas", "pasc", {"overlap": "pipelined"}),
    "LoAS, PASC, 1024 PEs": ("loas", "pasc", "h1"),
    "LoAS, PASC, barrier": ("loas", "pasc", {"schedule": "barrier"}),
    "SparTen, QCFS": ("sparten", "qcfs", "pascal40"),
    "SparTen, QCFS, greedy balancing": ("sparten", "qcfs", {"schedule": "gb"}),
}


def vgg16_trace(images: int, density: float = 0.25, weight_density: float = 0.5, seed: int = 0) -> Trace:
    """Random spikes on the maps of VGG-16."""
    rng = np.random.default_rng(seed)
    layers = []
    for workload in vgg16_workloads(density):
        shape = (workload.output_shape[0], workload.input_shape[0], *workload.kernel)
        weights = rng.integers(-127, 128, shape, np.int8) * (rng.random(shape, np.float32) < weight_density)
        spikes = None
        if not workload.is_input:
            inputs = (images, *workload.input_shape)
            spikes = rng.integers(1, 5, inputs, np.uint8) * (rng.random(inputs, np.float32) < density)
        layers.append(layer_trace(workload, weights, spikes, np.full(images, workload.neurons // 4)))
    return network_trace(layers)


def seconds(work: Callable[[], Any], clock: Callable[[], float], repeats: int = 5) -> float:
    """Best of several runs."""
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def per_image_ms(
    trace: Trace, variants: list[Variant], workers: int = 1, clock: Callable[[], float] = process_time
) -> float:
    """Slope between few and many images, so that packing the weights once is not counted."""
    few, many = 2, trace.images
    short, long = (
        seconds(lambda images=images: simulate_variants(make_source(trace, images), variants, workers), clock)
        for images in (few, many)
    )
    return 1e3 * (long - short) / (many - few)


def main(out: str | None = None) -> None:
    """Time every machine, three machines that share their counts, and two workers; print and write the table."""
    trace = vgg16_trace(images=12)
    machines = {name: [make_variant(*machine)] for name, machine in MACHINES.items()}
    machines["three machines, one count"] = [variants[0] for variants in list(machines.values())[:2]]
    machines["three machines, one count"] += machines["SparTen, QCFS"]
    rows = []
    for name, variants in tqdm(machines.items(), unit="machine"):
        simulate_variants(make_source(trace, 1), variants)  # compile
        each = per_image_ms(trace, variants) / len(variants)
        rows.append({"machine": name, "ms_per_image_and_machine": each, "target_ms": TARGET_MS})
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format="%.1f"))
    one, two = (per_image_ms(trace, machines["LoAS, PASC"], workers, perf_counter) for workers in (1, 2))
    conditions = f"wall time, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"two workers are {one / two:.2f} times as fast as one ({conditions})")
    if out:
        table.to_csv(Path(out), index=False, float_format="%.1f")


if __name__ == "__main__":
    main(*sys.argv[1:2])
