"""How the planner's time grows: with images, with values, with layers.

`python -m benchmarks.speed.planning OUT.csv` measures around a uniform point of 4 levels, as each round of a plan does,
and divides the processor's seconds by those of one pass of the network over the images.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import pandas as pd
import torch
from torch import nn

import pascal
from pascal.networks.resnet import ResNet
from pascal.planning.network import Network
from pascal.planning.sensitivity import Judge

CASES = (  # network, image size, images, values around the point
    ("resnet20", 32, 64, (8, 2)), ("resnet20", 32, 128, (8, 2)), ("resnet20", 32, 256, (8, 2)),
    ("resnet20", 32, 128, (8,)), ("resnet20", 32, 128, (16, 8, 2, 1)),
    ("resnet56", 32, 64, (8, 2)), ("torchvision:resnet50", 64, 32, (8, 2)),
)  # fmt: skip


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for row in measured():
        rows.append(row)
        print(row, flush=True)
        pd.DataFrame(rows).to_csv(arguments.out, index=False)


def measured() -> Iterator[dict[str, Any]]:
    """One row per case."""
    for name, size, images, values in CASES:
        torch.manual_seed(0)
        yield {"network": name, "image_size": size} | row(Network(built(name, size)), size, images, values)


def row(network: Network, size: int, images: int, values: Sequence[int]) -> dict[str, Any]:
    """Seconds of all single changes around a point, beside those of one pass."""
    pixels, point = torch.randn(images, 3, size, size), network.start
    network.gather([pixels], 0.5, 2, 0)
    judge = Judge(network, pixels)
    changes = [(path, setting._replace(levels=levels)) for path, setting in point.items() for levels in values]
    once = timed(lambda: network.logits(pixels, point))
    seconds = timed(lambda: judge.sensitivity(point, changes))
    return {
        "layers": len(point), "values": len(values), "images": images, "changes": len(changes),
        "cpu_seconds": seconds, "pass_seconds": once, "passes": seconds / once,
        "passes_per_change": seconds / once / len(changes),
        "microseconds_per_change_and_image": 1e6 * seconds / len(changes) / images,
    }  # fmt: skip


def timed(work: Callable[[], object]) -> float:
    """The processor's seconds; the better of two, for the machine has other work."""
    found = []
    for _ in range(2):
        began = process_time()
        work()
        found.append(process_time() - began)
    return min(found)


def built(name: str, size: int) -> nn.Module:
    """A network with random weights, L = 4: the time does not depend on what it has learnt."""
    if name == "resnet56":  # ResNet-20 with nine blocks a stage
        ann: nn.Module = ResNet([9, 9, 9], [16, 32, 64])
        pascal.set_levels(ann, 4)
    else:
        ann = pascal.build_network(name, image_size=size, levels=4)
    return ann.eval()


if __name__ == "__main__":
    main()
