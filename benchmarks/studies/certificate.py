"""Engines against each other on every image of the CIFAR-10 test set, and what INT8 costs in accuracy.

`python -m benchmarks.studies.certificate OUT` reads the QCFS ResNet-20 from PASCAL_CHECKPOINTS and CIFAR-10 from
PASCAL_DATA, and writes OUT/engines_certificate.csv (pairs of networks, neuron by neuron) and OUT/engines_accuracy.csv.
With `--weights results/RUN/SEED/ann.safetensors --network vgg16 --width 0.25` it adds the rows of a network that a run
of the pipeline trained.
"""

import argparse
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from tqdm import tqdm

import pascal
from benchmarks.checkpoints import QCFS_MEAN, QCFS_RESNET20, QCFS_STD, checkpoint_path, data_root, load_qcfs_resnet20
from pascal.data import load_dataset
from pascal.data.augment import normalise
from pascal.data.records import Colour
from pascal.files import read_tensors
from pascal.graph.integer import Pixels

Networks = dict[str, Callable[[], nn.Module]]
Row = dict[str, Any]

PUBLIC = "QCFS ResNet-20, L = 8"
OWN_FUNCTIONS = ("ANN, float32", "counts, float32", "integer counts", "integer counts, pixels of 8 bits")
PAIRS = (
    ("integer steps", "integer counts"),
    ("ANN, float32", "counts, float32"),
    ("ANN, float64", "counts, float64"),
    ("steps, float64", "counts, float64"),
)


def main() -> None:
    """Compare, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--weights", type=Path, help="a trained network in the place of the public one")
    parser.add_argument("--network", default="vgg16", help="its name")
    parser.add_argument("--width", type=float, default=1.0, help="its width")
    arguments = parser.parse_args()
    if arguments.weights is None:
        name, ann = PUBLIC, load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20))
        images, labels = cifar10_test(arguments.images)
    else:
        name, ann = trained_network(arguments.weights, arguments.network, arguments.width)
        images, labels = cifar10_test(arguments.images, None, None)
    networks = engines(ann, images)
    arguments.out.mkdir(parents=True, exist_ok=True)
    accuracies = [accuracy(networks, engine, images, labels) for engine in OWN_FUNCTIONS]
    write(arguments.out / "engines_accuracy.csv", name, accuracies)
    write(arguments.out / "engines_certificate.csv", name, [compared(networks, *pair, images) for pair in PAIRS])


def trained_network(weights: Path, network: str, width: float) -> tuple[str, nn.Module]:
    """Run and seed, and the network with its own levels, in evaluation mode."""
    ann = pascal.build_network(network, width=width)
    ann.load_state_dict(read_tensors(weights))
    return f"{weights.resolve().parents[1].name}-{weights.resolve().parent.name}", ann.eval()


def write(path: Path, ann: str, rows: list[tuple[Row, Callable[[], Row]]]) -> None:
    """Each row as soon as it is there, since all take an hour; those that the file already holds are kept."""
    table = pd.read_csv(path) if path.exists() else pd.DataFrame()
    for key, measure in [({"ann": ann} | own, measure) for own, measure in rows]:
        if len(table) and (table[list(key)] == pd.Series(key)).all(axis=1).any():
            continue
        table = pd.concat([table, pd.DataFrame([key | measure()])], ignore_index=True)
        table.to_csv(path, index=False)
    print(table.to_string(index=False))


def cifar10_test(count: int, mean: Colour | None = QCFS_MEAN, std: Colour | None = QCFS_STD) -> tuple[Tensor, Tensor]:
    """The first images of the CIFAR-10 test set and their labels; normalised as the public checkpoint expects."""
    data = load_dataset("cifar10", data_root(), mean=mean, std=std, download=False)
    return normalise(data.test.pixels[:count], data.mean, data.std), data.test.labels[:count]


def engines(ann: nn.Module, images: Tensor) -> Networks:
    """Every engine of the same ANN, by name and arithmetic."""
    precise = copy.deepcopy(ann).double()
    integer: Any = pascal.convert(ann, engine="integer")
    return {
        "ANN, float32": lambda: ann,
        "ANN, float64": lambda: precise,
        "counts, float32": lambda: pascal.convert(ann, engine="counts"),
        "counts, float64": lambda: pascal.convert(precise, engine="counts"),
        "steps, float64": lambda: pascal.convert(precise),
        "integer counts": lambda: integer,
        "integer steps": integer.stepwise,
        "integer counts, pixels of 8 bits": lambda: pascal.convert(ann, engine="integer", pixels=Pixels.fitted(images)),
    }


def accuracy(networks: Networks, name: str, images: Tensor, labels: Tensor) -> tuple[Row, Callable[[], Row]]:
    """Accuracy of a network that is its own function of the images."""

    @torch.no_grad()
    def measure() -> Row:
        network = networks[name]()
        chosen = torch.cat([network(batch).argmax(1) for batch in tqdm(images.split(500), desc=name)])
        return {"accuracy": 100 * float((chosen == labels).double().mean())}

    return {"network": name, "images": len(images)}, measure


def compared(networks: Networks, first: str, second: str, images: Tensor) -> tuple[Row, Callable[[], Row]]:
    """A pair of networks, neuron by neuron."""

    def measure() -> Row:
        batches = tqdm(images.split(100), desc=f"{first} – {second}", unit="batch")
        found = pascal.verify(networks[first](), networks[second](), batches)
        names = ("neurons", "count_mismatches", "prediction_mismatches", "max_logit_error")
        return {name: getattr(found, name) for name in names}

    return {"first": first, "second": second, "images": len(images)}, measure


if __name__ == "__main__":
    main()
