"""Engines against each other on every image of the CIFAR-10 test set, and what INT8 costs in accuracy.

`python -m benchmarks.certificate OUT` reads the QCFS ResNet-20 from PASCAL_CHECKPOINTS and CIFAR-10 from PASCAL_DATA,
and writes OUT/engines_certificate.csv (pairs of networks, neuron by neuron) and OUT/engines_accuracy.csv.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from tqdm import tqdm

import pascal
from pascal.data import load_dataset
from pascal.graph.integer import Pixels
from tests.checkpoints import QCFS_MEAN, QCFS_RESNET20, QCFS_STD, checkpoint_path, data_root, load_qcfs_resnet20

Networks = dict[str, Callable[[], nn.Module]]
Row = dict[str, Any]

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
    arguments = parser.parse_args()
    images, labels = cifar10_test(arguments.images)
    networks = engines(images)
    arguments.out.mkdir(parents=True, exist_ok=True)
    write(arguments.out / "engines_accuracy.csv", [accuracy(networks, name, images, labels) for name in OWN_FUNCTIONS])
    write(arguments.out / "engines_certificate.csv", [compared(networks, *pair, images) for pair in PAIRS])


def write(path: Path, rows: list[tuple[Row, Callable[[], Row]]]) -> None:
    """Each row as soon as it is there, since all take an hour; those that the file already holds are kept."""
    table = pd.read_csv(path) if path.exists() else pd.DataFrame()
    for key, measure in rows:
        if len(table) and (table[list(key)] == pd.Series(key)).all(axis=1).any():
            continue
        table = pd.concat([table, pd.DataFrame([key | measure()])], ignore_index=True)
        table.to_csv(path, index=False)
    print(table.to_string(index=False))


def cifar10_test(count: int) -> tuple[Tensor, Tensor]:
    """The first images of the CIFAR-10 test set, normalised as the checkpoint expects, and their labels."""
    data = load_dataset("cifar10", data_root(), mean=QCFS_MEAN, std=QCFS_STD, download=False).test
    mean, std = (torch.tensor(values).view(3, 1, 1) for values in (QCFS_MEAN, QCFS_STD))
    return (data.pixels[:count].float() / 255 - mean) / std, data.labels[:count]


def engines(images: Tensor) -> Networks:
    """Every engine of the same ANN, by name and arithmetic."""
    ann, precise = (
        load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20)).to(dtype) for dtype in (torch.float32, torch.float64)
    )
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
