"""How the cost of a calibration grows: CPU seconds at two numbers of images and at two depths.

`python -m benchmarks.studies.calibration_cost OUT.csv` calibrates ResNets with fresh weights on random images of
CIFAR-10's size; what the numbers are does not matter to the time.
"""

import argparse
from pathlib import Path

import pandas as pd
import torch

import pascal
from pascal.networks.resnet import ResNet

IMAGES, BLOCKS, CHANNELS = (500, 1000), (1, 3), (16, 32, 64)


def main() -> None:
    """Each size in turn, the first once more to warm up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    torch.set_num_threads(1)
    measure(IMAGES[0] // 10, BLOCKS[0])
    table = pd.DataFrame([measure(images, blocks) for blocks in BLOCKS for images in IMAGES])
    out.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(out, index=False)
    print(table.to_string(index=False))


def measure(images: int, blocks: int) -> dict[str, float]:
    """One calibration by ridge at L = 8."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    ann = ResNet((blocks,) * 3, CHANNELS).eval()
    pascal.set_levels(ann, 8)
    pixels = torch.randn(images, 3, 32, 32, generator=generator)
    calibration = pascal.calibrate(ann, pixels.split(100))
    return {"layers": len(calibration.layers), "images": images, "cpu_seconds": calibration.seconds}


if __name__ == "__main__":
    main()
