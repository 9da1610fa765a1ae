"""Engines against each other on every image of the CIFAR-10 test set, and what INT8 costs in accuracy.

`python -m benchmarks.certificate OUT` reads the QCFS ResNet-20 from PASCAL_CHECKPOINTS and CIFAR-10 from PASCAL_DATA,
and writes OUT/engines_certificate.csv (pairs of networks, neuron by neuron) and OUT/engines_accuracy.csv.
"""

import argparse
from collections.abc import Callable, Iterator
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


def main() -> None:
    """Compare, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--images", type=int, default=10_000)
    arguments = parser.parse_args()
    images, labels = cifar10_test(arguments.images)
    networks = engines(images)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, rows in (("accuracy", accuracies(networks, images, labels)), ("certificate", compared(networks, images))):
        table = pd.DataFrame()
        for row in rows:  # each is written as soon as it is there: all of them take hours
            table = pd.concat([table, pd.DataFrame([row])], ignore_index=True)
            table.to_csv(arguments.out / f"engines_{name}.csv", index=False)
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


@torch.no_grad()
def accuracies(networks: Networks, images: Tensor, labels: Tensor) -> Iterator[Row]:
    """Accuracy of each network that is its own function of the images."""
    names = ("ANN, float32", "counts, float32", "integer counts", "integer counts, pixels of 8 bits")
    for name in tqdm(names, desc="accuracy"):
        network = networks[name]()
        chosen = torch.cat([network(batch).argmax(1) for batch in images.split(500)])
        yield {"network": name, "images": len(labels), "accuracy": 100 * float((chosen == labels).double().mean())}


def compared(networks: Networks, images: Tensor) -> Iterator[Row]:
    """Pairs of networks, neuron by neuron."""
    pairs = (
        ("integer steps", "integer counts"),
        ("ANN, float32", "counts, float32"),
        ("ANN, float64", "counts, float64"),
        ("steps, float64", "counts, float64"),
    )
    for first, second in pairs:
        batches = tqdm(images.split(100), desc=f"{first} – {second}", unit="batch")
        found = pascal.verify(networks[first](), networks[second](), batches)
        names = ("images", "neurons", "count_mismatches", "prediction_mismatches", "max_logit_error")
        yield {"first": first, "second": second, **{name: getattr(found, name) for name in names}}


if __name__ == "__main__":
    main()
