"""Records of a data set: where its images are, and what every network needs to know of them."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from pascal.errors import PascalError

Batch = tuple[Tensor, Tensor]  # float images (N, 3, H, W), int64 labels (N,)
Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Images:
    """A split that lives in memory: uint8 `pixels` (N, 3, H, W) and int64 `labels` (N,)."""

    pixels: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: Tensor) -> "Images":
        """The images at `indices`."""
        return Images(self.pixels[indices], self.labels[indices])

    def to(self, device: torch.device | str) -> "Images":
        """The same images on another device."""
        return Images(self.pixels.to(device), self.labels.to(device))


@dataclass(frozen=True)
class Files:
    """A split that is read while training: one path per image and int64 `labels` (N,)."""

    paths: tuple[str, ...]
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: Tensor) -> "Files":
        """The files at `indices`."""
        return Files(tuple(self.paths[index] for index in indices.tolist()), self.labels[indices])


Split = Images | Files


@dataclass(frozen=True)
class Source:
    """What the files of a data set hold, before any validation images are set aside."""

    train: Split
    test: Split
    classes: tuple[str, ...]
    checksums: Mapping[str, str]


@dataclass(frozen=True)
class Dataset:
    """A data set ready for training; `test` is for the final evaluation alone."""

    name: str
    classes: tuple[str, ...]
    image_size: int
    mean: Colour
    std: Colour
    train: Split
    validation: Split
    test: Split
    validation_indices: Tensor
    seed: int
    checksums: Mapping[str, str]


@dataclass(frozen=True)
class Share:
    """One process's part of every batch; `batch_size` counts the images of all processes."""

    batch_size: int
    rank: int = 0
    processes: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.batch_size, bool) or not isinstance(self.batch_size, int) or self.batch_size < 1:
            raise PascalError(f"batch_size: got {self.batch_size!r}, expected a whole number >= 1")
        if self.batch_size % self.processes:  # gradients are averaged over processes, so that shares must be equal
            raise PascalError(f"batch_size: got {self.batch_size}, expected a multiple of {self.processes} processes")

    def of_step(self, step: int) -> slice:
        """Where this process's images of a step stand in the epoch's order."""
        return slice(step * self.batch_size + self.rank, (step + 1) * self.batch_size, self.processes)
