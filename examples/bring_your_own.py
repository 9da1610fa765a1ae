"""A trained ReLU network becomes a spiking one, without training and without labels: load, calibrate, convert, verify.

`python -m examples.bring_your_own CHECKPOINT --levels 8 --data FOLDER` takes a ReLU ResNet-20 for CIFAR-10 whose
shortcuts have no weights; `--network timm:… --dataset …` another. Calibration sees training images; test images are
for the report alone.
"""

import argparse
from itertools import islice
from pathlib import Path

import pascal
from pascal.data import evaluation_batches, load_dataset, sample
from pascal.training import evaluate


def main() -> None:
    """From checkpoint to certificate."""
    options = parse()
    dataset = load_dataset(options.dataset, options.data, mean=options.mean, std=options.std)
    ann = pascal.build_network(options.network, len(dataset.classes), dataset.image_size, options.levels).eval()
    print(pascal.load_weights(ann, options.checkpoint))

    training = evaluation_batches(dataset, sample(dataset.train, options.images), 100)
    calibration = pascal.calibrate(ann, training, options.method, bar=True)
    print(calibration)

    ann = calibration.ann.double()
    snn = pascal.convert(ann, engine="counts")
    test = evaluation_batches(dataset, sample(dataset.test, options.test), 100)
    print(f"calibrated {evaluate(ann, test).accuracy:.2%}, spiking {evaluate(snn, test).accuracy:.2%}")

    certificate = pascal.verify(ann, pascal.convert(ann), islice(test, 2))
    print(f"{certificate.count_mismatches} of {certificate.neurons:,} spike counts differ, timestep by timestep")


def parse() -> argparse.Namespace:
    """The command's arguments; colours are those that the network was trained with."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--network", default="resnet20-a")
    parser.add_argument("--levels", type=int, default=8)
    parser.add_argument("--method", default="ridge", help="max, percentile, mse, channel, ridge or auto")
    parser.add_argument("--dataset", default="cifar10")
    parser.add_argument("--data", type=Path, help="the data folder; PASCAL_DATA or data/")
    parser.add_argument("--mean", type=float, nargs=3, default=(0.485, 0.456, 0.406))
    parser.add_argument("--std", type=float, nargs=3, default=(0.229, 0.224, 0.225))
    parser.add_argument("--images", type=int, default=1000, help="training images to calibrate on")
    parser.add_argument("--test", type=int, default=2000, help="test images to report on")
    return parser.parse_args()


if __name__ == "__main__":
    main()
