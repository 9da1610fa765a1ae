"""A trained ReLU network becomes a spiking one, without training and without labels: quantize, calibrate, convert.

`python -m examples.bring_your_own CHECKPOINT --levels 8 --data FOLDER` takes the ReLU ResNet-20 of
`benchmarks/relu_resnet20.py`. Calibration sees training images; test images are for the report alone.
"""

import argparse
from pathlib import Path

import torch

import pascal
from benchmarks.relu_resnet20 import MEAN, STD, load_relu_resnet20
from pascal.data import evaluation_batches, load_dataset, sample


def main() -> None:
    """From checkpoint to certificate."""
    options = parse()
    dataset = load_dataset("cifar10", options.data, mean=MEAN, std=STD)
    training = evaluation_batches(dataset, sample(dataset.train, options.images), 100)
    test = list(evaluation_batches(dataset, sample(dataset.test, options.test), 100))

    relu = load_relu_resnet20(options.checkpoint)
    calibration = pascal.calibrate(pascal.quantize(relu, levels=options.levels), training, options.method, bar=True)
    print(calibration)

    ann = calibration.ann.double()
    snn = pascal.convert(ann, engine="counts")
    print(f"ReLU {accuracy(relu, test):.2%}, calibrated {accuracy(ann, test):.2%}, spiking {accuracy(snn, test):.2%}")

    certificate = pascal.verify(ann, pascal.convert(ann), [images for images, _ in test[:2]])
    print(f"{certificate.count_mismatches} of {certificate.neurons:,} spike counts differ, timestep by timestep")


def parse() -> argparse.Namespace:
    """The command's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--levels", type=int, default=8)
    parser.add_argument("--method", default="ridge", help="max, percentile, mse, channel, ridge or auto")
    parser.add_argument("--data", type=Path, help="the data folder; PASCAL_DATA or data/")
    parser.add_argument("--images", type=int, default=1000, help="training images to calibrate on")
    parser.add_argument("--test", type=int, default=2000, help="test images to report on")
    return parser.parse_args()


@torch.no_grad()
def accuracy(model: torch.nn.Module, batches: list[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """Share of the images that a network classifies correctly."""
    dtype = next(model.parameters()).dtype
    correct = sum(int((model(images.to(dtype)).argmax(1) == labels).sum()) for images, labels in batches)
    return correct / sum(len(labels) for _, labels in batches)


if __name__ == "__main__":
    main()
