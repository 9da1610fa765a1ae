"""A trained ReLU network becomes a spiking one: quantize, calibrate, fine-tune briefly, convert, verify.

`python -m benchmarks.studies.own_network CHECKPOINT OUT.json --levels 4 --epochs 2 --data FOLDER` takes the network of
`benchmarks/relu_resnet20.py`. Whatever is chosen is chosen on validation images; test images are for the report alone.
A killed fine-tuning goes on where it was: its checkpoint is under work/checkpoints.
"""

import argparse
import copy
import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from safetensors.torch import save
from torch import nn
from tqdm import tqdm

import pascal
from benchmarks.publishing.provenance import provenance, write_record
from benchmarks.relu_resnet20 import MEAN, STD, load_relu_resnet20
from pascal.data import Dataset, describe, evaluation_batches, load_dataset, sample, training_batches
from pascal.data.records import Split
from pascal.pipeline.canonical import digest
from pascal.pipeline.models import Doubles
from pascal.pipeline.stamps import code_stamp
from pascal.training import Checkpoint, EpochRecord, TrainingConfig, evaluate, train, weights

METHODS = ("max", "percentile", "mse")
RATES = (0.1, 0.03, 0.01, 0.003)
CALIBRATION_IMAGES, TRIAL_IMAGES = 1000, 5000
BATCH = 128


def main() -> None:
    """Everything in order; what happened is written as one JSON."""
    arguments = parse()
    torch.set_num_threads(arguments.threads)
    began = monotonic()
    dataset = load_dataset("cifar10", arguments.data, arguments.seed, mean=MEAN, std=STD)
    dataset = smaller(dataset, arguments.images) if arguments.images else dataset
    relu = load_relu_resnet20(arguments.checkpoint)
    ann = pascal.quantize(relu, levels=arguments.levels)
    images = {"training_images": len(dataset.train), "test_images": len(dataset.test)}
    accuracy = {"relu": on_test(relu, dataset), "quantized": on_test(ann, dataset)}

    method, by_method = calibrate(ann, dataset)
    accuracy["calibrated"] = on_test(ann, dataset)

    rate, by_rate = choose_rate(ann, dataset, arguments.seed)
    config = TrainingConfig(epochs=arguments.epochs, learning_rate=rate, seed=arguments.seed)
    records = fine_tune(ann, dataset, config, key(ann, dataset, config))
    accuracy["fine_tuned"] = on_test(ann, dataset)

    certificate, accuracy["snn"] = convert_and_verify(ann, dataset, arguments.certified)
    record = {
        "kind": "own network", "network": "ReLU ResNet-20", "dataset": "cifar10", "levels": arguments.levels,
        **images, "epochs": arguments.epochs, "seed": arguments.seed, "seconds": monotonic() - began, **provenance(),
        "accuracy": accuracy, "calibration": method, "validation_accuracy_by_calibration": by_method,
        "learning_rate": rate, "validation_accuracy_by_learning_rate": by_rate,
        "curve": [asdict(epoch) for epoch in records], "certificate": certificate,
    }  # fmt: skip
    write_record(arguments.out, record)
    print(json.dumps({"accuracy": accuracy, "certificate": certificate}, indent=2))


def parse() -> argparse.Namespace:
    """The command's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--levels", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--data", type=Path, help="the data folder; PASCAL_DATA or data/")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--certified", type=int, default=1000, help="test images compared neuron by neuron")
    parser.add_argument("--images", type=int, help="only so many for training, validation and test: to try this out")
    return parser.parse_args()


def smaller(dataset: Dataset, images: int) -> Dataset:
    """The same data set with fewer images in every part."""
    return replace(
        dataset, **{part: sample(getattr(dataset, part), images) for part in ("train", "validation", "test")}
    )


def accuracy_on(model: nn.Module, dataset: Dataset, split: Split) -> float:
    """Share of a split's images that are classified correctly."""
    return evaluate(model, evaluation_batches(dataset, split), bar=True).accuracy


def on_test(model: nn.Module, dataset: Dataset) -> float:
    """For the report; no choice depends on it."""
    return accuracy_on(model, dataset, dataset.test)


def calibrate(ann: nn.Module, dataset: Dataset) -> tuple[str, dict[str, float]]:
    """Thresholds from training images, by the method that does best on validation images."""
    images = sample(dataset.train, min(CALIBRATION_IMAGES, len(dataset.train)))
    batches = evaluation_batches(dataset, images)
    calibrated = {method: pascal.calibrate(ann, batches, method, bar=True).ann for method in METHODS}
    found = {method: accuracy_on(calibrated[method], dataset, dataset.validation) for method in METHODS}
    best = max(found, key=found.__getitem__)
    for path in pascal.get_levels(ann):  # the weights stay: batch norms are trained on
        ann.get_submodule(path).threshold = calibrated[best].get_submodule(path).threshold.detach()
    return best, found


def choose_rate(ann: nn.Module, dataset: Dataset, seed: int) -> tuple[float, dict[str, float]]:
    """The learning rate that does best on validation images after one short epoch of its own."""
    some = replace(dataset, train=sample(dataset.train, min(TRIAL_IMAGES, len(dataset.train)), seed))
    found = {}
    for rate in RATES:
        trial, config = copy.deepcopy(ann), TrainingConfig(epochs=1, learning_rate=rate, seed=seed)
        list(train(trial, training_batches(some, BATCH, seed=seed), config))
        found[str(rate)] = accuracy_on(trial, dataset, dataset.validation)
    return float(max(found, key=found.__getitem__)), found


def fine_tune(ann: nn.Module, dataset: Dataset, config: TrainingConfig, key: str) -> list[EpochRecord]:
    """Train in place to the end of a short cosine, resumable under `key`."""
    checkpoint = Checkpoint(Path("work/checkpoints"), key)
    batches = training_batches(dataset, BATCH, seed=config.seed)
    validation = evaluation_batches(dataset, dataset.validation)
    return list(train(ann, batches, config, checkpoint.load(), validation, save=checkpoint.save))


def key(ann: nn.Module, dataset: Dataset, config: TrainingConfig) -> str:
    """Digest of what the fine-tuning depends on: weights, thresholds and levels, data, schedule, code."""
    start = hashlib.sha256(save(weights(ann))).hexdigest()
    code = code_stamp(Path(__file__).parents[2], Path(__file__))
    return "own-" + digest([start, describe(dataset), asdict(config), code])


def convert_and_verify(ann: nn.Module, dataset: Dataset, certified: int) -> tuple[dict[str, Any], float]:
    """Every neuron of the SNN, timestep by timestep, against the ANN's on some images; its accuracy on all of them."""
    ann = ann.double().eval()
    some = sample(dataset.test, min(certified, len(dataset.test)))
    shown = tqdm(evaluation_batches(dataset, some, 100), "verify", leave=False)
    certificate = pascal.verify(ann, pascal.convert(ann), Doubles(shown))
    names = ("images", "neurons", "count_mismatches", "prediction_mismatches", "max_logit_error", "dtype")
    test = Doubles(evaluation_batches(dataset, dataset.test, 100))
    snn_accuracy = evaluate(pascal.convert(ann, engine="counts"), test, bar=True).accuracy
    return {name: getattr(certificate, name) for name in names}, snn_accuracy


if __name__ == "__main__":
    main()
