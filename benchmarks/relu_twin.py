"""What does QCFS cost? A run's twin: the same network, schedule and seed, with ReLU in place of every QCFS.

`python -m benchmarks.relu_twin workflow/presets/cifar10-small.yaml vgg-l4 OUT.json --data FOLDER` trains it and writes
its accuracy on the test set. A killed training goes on where it was: its checkpoint is under work/checkpoints.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.provenance import provenance, write_record
from benchmarks.training import with_relu
from pascal.data import Dataset, describe, evaluation_batches, load_dataset, sample
from pascal.errors import PascalError
from pascal.networks import build_network
from pascal.training import evaluate
from workflow.scripts.lib.params import load_params
from workflow.scripts.lib.runs import run_table
from workflow.scripts.lib.stamps import code_stamp, digest
from workflow.scripts.lib.training import Training, training_config

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "workflow" / "schemas" / "params.schema.yaml"


def main() -> None:
    """Train, evaluate, write, print."""
    arguments = parse()
    params = load_params(arguments.preset, SCHEMA)
    settings = settings_of(params, arguments.run, arguments.epochs)
    torch.set_num_threads(settings["threads"])
    dataset = open_dataset(params["datasets"], settings["dataset"], arguments)
    training = twin(settings, dataset, arguments.seed)
    records = list(training.records(training.key))
    found = evaluate(training.network, evaluation_batches(dataset, dataset.test), bar=True)
    record = {
        "kind": "ReLU twin", "run": arguments.run, "dataset": dataset.name, "network": settings["network"],
        "width": settings["width"], "training_images": len(dataset.train), "epochs": training.config.epochs,
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


def settings_of(params: Mapping[str, Any], name: str, epochs: int | None) -> dict[str, Any]:
    """A run's parameters with defaults filled in."""
    runs = run_table(params)
    if name not in runs or "weights" in runs[name].settings:
        trained = [run for run, entry in runs.items() if "weights" not in entry.settings]
        raise PascalError(f"run: got {name!r}, expected one that is trained from the beginning: {', '.join(trained)}")
    settings = runs[name].settings
    if epochs is not None:
        warmup = settings["train"].get("warmup_epochs", 0)
        settings["train"] |= {"epochs": epochs, "warmup_epochs": min(warmup, epochs - 1)}
    return settings


def open_dataset(datasets: Mapping[str, Any], name: str, arguments: argparse.Namespace) -> Dataset:
    """The run's images, with the same ones set aside for validation."""
    options = dict(datasets[name])
    dataset = load_dataset(options.pop("source", name), arguments.data, **options)
    return replace(dataset, train=sample(dataset.train, arguments.images)) if arguments.images else dataset


def twin(settings: Mapping[str, Any], dataset: Dataset, seed: int) -> Training:
    """The training of the run's own network, from the same first weights, with ReLU."""
    config = training_config(settings["train"], seed)
    own = {name: settings[name] for name in ("network", "width", "pool", "train", "threads", "device")}
    key = digest({"twin": own, "seed": seed, "data": describe(dataset), "code": code_stamp(ROOT, ["pascal"])})
    return Training(settings, config, dataset, relu_network(settings, dataset, seed), f"twin-{key}")


def relu_network(settings: Mapping[str, Any], dataset: Dataset, seed: int) -> nn.Module:
    """The network that stage train would begin with, and ReLU."""
    torch.manual_seed(seed)
    shape = len(dataset.classes), dataset.image_size
    return with_relu(build_network(settings["network"], *shape, 1, settings["width"], settings["pool"]))


if __name__ == "__main__":
    main()
