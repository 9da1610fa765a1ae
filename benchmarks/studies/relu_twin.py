"""What does QCFS cost? A run's twin: the same network, schedule and seed, with ReLU in place of every QCFS.

`python -m benchmarks.studies.relu_twin workflow/presets/cifar10-small.yaml vgg-l4 OUT.json --data FOLDER` trains it and
writes its accuracy on the test set. A killed training goes on where it was: its checkpoint is under work/checkpoints.
"""

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path

import torch
from torch import nn

from benchmarks.publishing.provenance import provenance, write_record
from benchmarks.speed.training import with_relu
from pascal.data import Dataset, describe, evaluation_batches, load_dataset, sample
from pascal.errors import PascalError
from pascal.networks import build_network
from pascal.pipeline.canonical import digest
from pascal.pipeline.parameters.data import Dataset as DatasetParams
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.runs import Params
from pascal.pipeline.parameters.stages import TrainStage, stage_parts
from pascal.pipeline.stamps import code_stamp
from pascal.pipeline.training import Training, training_config
from pascal.training import evaluate

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Train, evaluate, write, print."""
    arguments = parse()
    params = load_params(arguments.preset)
    settings = settings_of(params, arguments.run, arguments.epochs)
    torch.set_num_threads(settings.threads)
    dataset = open_dataset(params.datasets[settings.dataset], arguments)
    training = twin(settings, dataset, arguments.seed)
    records = list(training.records(training.key))
    found = evaluate(training.network, evaluation_batches(dataset, dataset.test), bar=True)
    record = {
        "kind": "ReLU twin", "run": arguments.run, "dataset": dataset.name, "network": settings.network,
        "width": settings.width, "training_images": len(dataset.train), "epochs": training.config.epochs,
        "seed": arguments.seed, "seconds": sum(epoch.seconds for epoch in records), **provenance(),
        "accuracy": found.accuracy, "test_images": found.images,
        "curve": [{k: v for k, v in asdict(epoch).items() if not k.startswith("threshold")} for epoch in records],
    }  # fmt: skip
    write_record(arguments.out, record)
    print(json.dumps({name: value for name, value in record.items() if name != "curve"}, indent=2))


def parse() -> argparse.Namespace:
    """The command's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset", type=Path)
    parser.add_argument("run")
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, help="the data folder; PASCAL_DATA or data/")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, help="another number than the run's: to try this out")
    parser.add_argument("--images", type=int, help="only so many training images: to try this out")
    return parser.parse_args()


def settings_of(params: Params, name: str, epochs: int | None) -> TrainStage:
    """What a run's training depends on."""
    runs = params.runs
    if name not in runs or runs[name].settings.weights:
        trained = [run for run, entry in runs.items() if not entry.settings.weights]
        raise PascalError(f"run: got {name!r}, expected one that is trained from the beginning: {', '.join(trained)}")
    settings = runs[name].settings
    if epochs is not None:
        fewer = {"epochs": epochs, "warmup_epochs": min(settings.train.warmup_epochs, epochs - 1)}
        settings = settings.model_copy(update={"train": settings.train.model_copy(update=fewer)})
    return stage_parts(settings)["train"]


def open_dataset(options: DatasetParams, arguments: argparse.Namespace) -> Dataset:
    """The run's images, with the same ones set aside for validation."""
    own = options.model_dump(exclude={"source"})
    dataset = load_dataset(options.source, arguments.data, **own)
    return replace(dataset, train=sample(dataset.train, arguments.images)) if arguments.images else dataset


def twin(settings: TrainStage, dataset: Dataset, seed: int) -> Training:
    """The training of the run's own network, from the same first weights, with ReLU."""
    config = training_config(settings.train, seed)
    own = settings.model_dump(mode="json", include={"network", "width", "pool", "train", "threads", "device"})
    key = digest({"twin": own, "seed": seed, "data": describe(dataset), "code": code_stamp(ROOT, Path(__file__))})
    return Training(settings, config, dataset, relu_network(settings, dataset, seed), f"twin-{key}")


def relu_network(settings: TrainStage, dataset: Dataset, seed: int) -> nn.Module:
    """The network that stage train would begin with, and ReLU."""
    torch.manual_seed(seed)
    shape = len(dataset.classes), dataset.image_size
    return with_relu(build_network(settings.network, *shape, 1, settings.width, settings.pool))


if __name__ == "__main__":
    main()
