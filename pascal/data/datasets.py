"""Data sets by name, with a validation split cut from the training images by seed."""

import hashlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pascal.data.records import Colour, Dataset, Source, Split
from pascal.data.sources import read_cifar10, read_cifar100, read_digits, read_imagenet
from pascal.data.streams import SPLIT, generator
from pascal.errors import PascalError


@dataclass(frozen=True)
class _Kind:
    read: Callable[[Path, bool], Source]
    image_size: int
    validation: int
    mean: Colour
    std: Colour


# Means and standard deviations over the training images, in units of the full scale; ImageNet's are torchvision's.
DATASETS = {
    "digits": _Kind(read_digits, 32, 180, (0.3054, 0.3054, 0.3054), (0.3228, 0.3228, 0.3228)),
    "cifar10": _Kind(read_cifar10, 32, 5_000, (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "cifar100": _Kind(read_cifar100, 32, 5_000, (0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)),
    "imagenet": _Kind(read_imagenet, 224, 10_000, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
}


def load_dataset(
    name: str,
    root: str | PathLike[str] | None = None,
    seed: int = 0,
    validation: int | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    download: bool = True,
) -> Dataset:
    """A data set from the files under `root`; `mean` and `std` serve networks trained with other ones.

    Without a `root` the files are looked for under the environment variable PASCAL_DATA, else under `data`.
    """
    if name not in DATASETS:
        raise PascalError(f"dataset: got {name!r}, expected one of {sorted(DATASETS)}")
    kind = DATASETS[name]
    source = kind.read(_root() if root is None else Path(root), download)
    held_out = _validation_indices(len(source.train), kind.validation if validation is None else validation, seed)
    kept = torch.ones(len(source.train), dtype=torch.bool).index_fill_(0, held_out, False).nonzero().flatten()
    return Dataset(
        name=name,
        classes=source.classes,
        image_size=kind.image_size,
        mean=_colour("mean", kind.mean if mean is None else mean),
        std=_colour("std", kind.std if std is None else std),
        train=source.train.take(kept),
        validation=source.train.take(held_out),
        test=source.test,
        validation_indices=held_out,
        seed=seed,
        checksums=source.checksums,
    )


def _root() -> Path:
    return Path(os.environ.get("PASCAL_DATA") or "data")


def _colour(key: str, value: Sequence[float]) -> Colour:
    if len(value) != 3 or not all(0 < part < math.inf for part in value):
        raise PascalError(f"{key}: got {value}, expected three positive numbers: red, green, blue of full scale 1")
    red, green, blue = map(float, value)
    return red, green, blue


def _validation_indices(images: int, validation: int, seed: int) -> Tensor:
    if not 0 <= validation < images:
        raise PascalError(
            f"validation: got {validation}, expected 0 to {images - 1}: there are {images} training images"
        )
    return torch.from_numpy(generator(SPLIT, seed).permutation(images)[:validation]).sort().values


def describe(dataset: Dataset) -> dict[str, Any]:
    """What a data set consists of, for `results/data/{dataset}.json`."""
    indices = dataset.validation_indices
    return {
        "name": dataset.name,
        "classes": list(dataset.classes),
        "image_size": dataset.image_size,
        "mean": list(dataset.mean),
        "std": list(dataset.std),
        "splits": {
            name: _describe_split(getattr(dataset, name), len(dataset.classes))
            for name in ("train", "validation", "test")
        },
        "seed": dataset.seed,
        "validation_indices": indices.tolist(),
        "validation_sha256": hashlib.sha256(indices.numpy().astype("<i8").tobytes()).hexdigest(),
        "checksums": dict(dataset.checksums),
    }


def _describe_split(split: Split, classes: int) -> dict[str, Any]:
    return {"images": len(split), "per_class": torch.bincount(split.labels, minlength=classes).tolist()}
