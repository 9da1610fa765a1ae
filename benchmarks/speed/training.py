"""What QCFS, the loader and the memory layout cost in training: ratios within one run.

`python -m benchmarks.speed.training OUT.csv` measures VGG-16 with batches of 128 CIFAR-sized images, in the training
loop's own step: a quarter as wide as the paper's, which `--width 1` measures. `--compile` adds torch.compile, whose
warm-up takes minutes. On a busy machine the ratios of CPU time with `--threads 1` are the ones to trust.
"""

import argparse
import copy
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import pandas as pd
import torch
from torch import nn
from tqdm import tqdm

from pascal.data import Augmentation, Dataset, Images, training_batches
from pascal.networks import build_network
from pascal.neurons.levels import registered_layers
from pascal.training import TrainingConfig
from pascal.training.run import Run

Work = tuple[Callable[[], None], int]  # what to run, and how many batches that is
Row = dict[str, str | float]
BATCH = 128
AUGMENTATIONS = {
    "crop, flip": Augmentation(),
    "crop, flip, Cutout": Augmentation(cutout=16),
    "crop, flip, AutoAugment, Cutout": Augmentation(autoaugment=True, cutout=16),
}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--width", type=float, default=0.25)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    repeats, width = arguments.repeats, arguments.width
    table = pd.DataFrame(steps(repeats, arguments.compile, width) + loaders(repeats, width))
    table.insert(0, "threads", arguments.threads)
    table.insert(0, "width", width)
    print(table.to_string(index=False, float_format="%.3f"))
    table.to_csv(arguments.out, index=False, float_format="%.3f")


def steps(repeats: int, compiled: bool, width: float = 0.25) -> list[Row]:
    """One training step with QCFS in each way of computing; the ratio is to the same with ReLU."""
    qcfs = build_network("vgg16", width=width, levels=4)
    ways: dict[str, dict[str, bool]] = {
        "": {}, ", bfloat16 products": {"mixed_precision": True}, ", not channels-last": {"channels_last": False}
    }  # fmt: skip
    if compiled:
        ways[", compiled"] = {"compile": True}
    rows = []
    for way, options in ways.items():
        pair = {
            f"ReLU{way}": stepper(with_relu(qcfs), **options),
            f"QCFS{way}": stepper(copy.deepcopy(qcfs), **options),
        }
        rows += compared(pair, f"ReLU{way}", repeats)
    return rows


def loaders(repeats: int, width: float = 0.25) -> list[Row]:
    """Batches of each augmentation; the ratio is to the steps that consume them."""
    variants = {name: loader(augmentation) for name, augmentation in AUGMENTATIONS.items()}
    variants["QCFS, again"] = stepper(build_network("vgg16", width=width, levels=4))
    return compared(variants, "QCFS, again", repeats)


def compared(variants: dict[str, Work], unit: str, repeats: int) -> list[Row]:
    """Medians per batch, the variants taken in turns so that all meet the same moods of the machine."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in variants}
    for work, _ in tqdm(variants.values(), "warm up", leave=False, disable=None):
        work()
        work()
    for _ in tqdm(range(repeats), "measure", leave=False, disable=None):
        for name, (work, _) in variants.items():
            wall, cpu = perf_counter(), process_time()
            work()
            times[name].append((perf_counter() - wall, process_time() - cpu))
    wall_ms, cpu_ms = (
        {name: 1e3 * median(t[k] for t in times[name]) / variants[name][1] for name in times} for k in (0, 1)
    )
    return [
        {
            "variant": name,
            "wall_ms": wall_ms[name],
            "cpu_ms": cpu_ms[name],
            "images_per_second": 1e3 * BATCH / wall_ms[name],
            "wall_ratio": wall_ms[name] / wall_ms[unit],
            "cpu_ratio": cpu_ms[name] / cpu_ms[unit],
        }
        for name in variants
    ]


def stepper(network: nn.Module, **options: bool) -> Work:
    """One step of the training loop, on the same batch again and again."""
    run = Run(network.train(), TrainingConfig(learning_rate=1e-3, **options), steps_per_epoch=1000)
    images, labels = torch.randn(BATCH, 3, 32, 32), torch.randint(0, 10, (BATCH,))
    return lambda: run.advance(images, labels), 1


def loader(augmentation: Augmentation) -> Work:
    """Eight batches of random pixels: the loader works some batches ahead, so that one alone would mislead."""
    pixels = torch.randint(0, 256, (10_000, 3, 32, 32), dtype=torch.uint8)
    images, colour = Images(pixels, torch.zeros(len(pixels), dtype=torch.long)), (0.5, 0.5, 0.5)
    dataset = Dataset("random", ("one",), 32, colour, colour, images, images, images, torch.arange(0), 0, {})
    batches = training_batches(dataset, BATCH, augmentation)
    start = len(batches) - 8
    return lambda: [*batches.epoch(0, start)].clear(), 8


def with_relu(network: nn.Module) -> nn.Module:
    """A copy with ReLU in place of every QCFS."""
    network = copy.deepcopy(network)
    for path in registered_layers(network):
        network.set_submodule(path, nn.ReLU())
    return network


if __name__ == "__main__":
    main()
