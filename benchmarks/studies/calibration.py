"""A ReLU ResNet-20 that others trained, calibrated without labels: every L, certified, on all test images.

`python -m benchmarks.studies.calibration OUT --levels 4 8 16 32` reads the checkpoint from PASCAL_CHECKPOINTS and
CIFAR-10 from PASCAL_DATA, and writes OUT/resnet20-l4.json and so on. Calibration sees training images alone; images
held out from training decide whether fine-tuning is kept; test images are for the report.
"""

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

import pascal
from benchmarks.checkpoints import RELU_RESNET20, checkpoint_path, data_root
from benchmarks.publishing.provenance import provenance, write_record
from benchmarks.relu_resnet20 import MEAN, STD, load_relu_resnet20
from pascal.data import Dataset, evaluation_batches, load_dataset, sample, training_batches
from pascal.pipeline.models import Doubles
from pascal.training import evaluate

BATCH = 100


def main() -> None:
    """A file for each L, written as soon as it is known."""
    options = parse()
    torch.set_num_threads(1)
    dataset = load_dataset("cifar10", data_root(), mean=MEAN, std=STD, download=False)
    relu = load_relu_resnet20(checkpoint_path(RELU_RESNET20))
    known = {"relu": accuracy(relu, dataset, options.test)}
    for levels in options.levels:
        found = study(relu, dataset, levels, options)
        found["accuracy"] = known | found["accuracy"]
        write_record(options.out / f"resnet20-l{levels}.json", found | provenance())
        print(levels, found["accuracy"], found["certificates"], found["seconds"])


def parse() -> argparse.Namespace:
    """The command's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--levels", type=int, nargs="+", default=[4, 8, 16, 32])
    parser.add_argument("--images", type=int, default=1000, help="training images to calibrate on")
    parser.add_argument("--test", type=int, default=10_000, help="test images to report on")
    parser.add_argument("--steps", type=int, default=1000, help="test images compared timestep by timestep")
    parser.add_argument("--counts", type=int, default=10_000, help="test images compared in closed form")
    parser.add_argument("--integer", type=int, default=100, help="test images compared by timestep, in integers")
    parser.add_argument("--methods", nargs="+", default=["mse", "channel", "ridge"], help="the last one is certified")
    parser.add_argument("--tuning", type=int, default=100, help="steps of fine-tuning with labels; 0 for none")
    return parser.parse_args()


def study(relu: nn.Module, dataset: Dataset, levels: int, options: argparse.Namespace) -> dict[str, Any]:
    """One L: some methods, fine-tuning after the last, and the certificates of the last."""
    images = list(evaluation_batches(dataset, sample(dataset.train, options.images), BATCH))
    found: dict[str, Any] = {
        "kind": "calibration", "network": "ReLU ResNet-20", "dataset": "cifar10", "levels": levels,
        "calibration_images": options.images, "test_images": options.test, "accuracy": {}, "seconds": {},
    }  # fmt: skip
    for method in options.methods:
        calibration = pascal.calibrate(pascal.quantize(relu, levels=levels), images, method)
        found["accuracy"][method] = accuracy(calibration.ann, dataset, options.test)
        found["seconds"][method] = calibration.seconds
    if options.tuning:
        found |= fine_tuned(calibration.ann, dataset, options, found)
    return found | {"certificates": certificates(calibration.ann, dataset, options)}


def fine_tuned(ann: nn.Module, dataset: Dataset, options: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
    """A few gentle steps with labels and augmentation, judged on images held out from training."""
    epoch = training_batches(dataset, 128, seed=0).epoch(0)
    batches = [batch for _, batch in zip(range(options.tuning), epoch, strict=False)]
    tuning = pascal.fine_tune(ann, batches, evaluation_batches(dataset, dataset.validation, 250))
    found["accuracy"]["fine-tuned"] = accuracy(tuning.ann, dataset, options.test)
    found["seconds"]["fine-tuning"] = tuning.seconds
    held = {"held_out_before": tuning.before, "held_out_after": tuning.after, "kept": tuning.kept}
    return {"fine_tuning": {"steps": options.tuning, "batch": 128} | held}


def accuracy(model: nn.Module, dataset: Dataset, count: int) -> float:
    """On the first test images; no choice depends on it."""
    test = dataset.test.take(torch.arange(count))
    return evaluate(model, evaluation_batches(dataset, test, 250)).accuracy


def certificates(ann: nn.Module, dataset: Dataset, options: argparse.Namespace) -> dict[str, Any]:
    """Neuron by neuron: timestep by timestep and in closed form in float64, and in integers."""
    integer: Any = pascal.convert(ann, engine="integer")
    exact = ann.double()
    test = {count: dataset.test.take(torch.arange(count)) for count in (options.steps, options.counts, options.integer)}
    shown = {count: evaluation_batches(dataset, images, BATCH) for count, images in test.items()}
    return {
        "steps, float64": certificate(exact, pascal.convert(exact), Doubles(shown[options.steps])),
        "counts, float64": certificate(exact, pascal.convert(exact, engine="counts"), Doubles(shown[options.counts])),
        "integer": certificate(integer, integer.stepwise(), shown[options.integer]),
    }


def certificate(first: nn.Module, second: nn.Module, batches: Any) -> dict[str, Any]:
    """What `pascal.verify` found, and its CPU seconds."""
    began = process_time()
    found = pascal.verify(first, second, tqdm(batches, "verify", leave=False))
    names = ("images", "neurons", "count_mismatches", "prediction_mismatches", "max_logit_error")
    return {name: getattr(found, name) for name in names} | {"seconds": process_time() - began}


if __name__ == "__main__":
    main()
