"""Batches for training and for evaluation, from memory or from files as the data set has it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch

from pascal.data.augment import Augmentation
from pascal.data.memory import MemoryEvaluation, MemoryTraining
from pascal.data.records import Batch, Dataset, Images, Share, Split
from pascal.data.streams import SAMPLE, generator
from pascal.errors import PascalError

if TYPE_CHECKING:
    from pascal.data.files import FileTraining


def training_batches(
    dataset: Dataset,
    batch_size: int,
    augmentation: Augmentation | None = None,
    seed: int = 0,
    device: torch.device | str = "cpu",
    rank: int = 0,
    processes: int = 1,
    workers: int = 0,
) -> "MemoryTraining | FileTraining":
    """Augmented batches, each a function of seed, epoch and step alone; `batch_size` counts all processes' images.

    Full batches only: what they leave over waits for another epoch's order.
    """
    images, mean, std = dataset.train, dataset.mean, dataset.std
    share = Share(batch_size, rank, processes)
    if batch_size > len(images):
        raise PascalError(f"batch_size: got {batch_size}, expected at most the {len(images)} training images")
    augmentation = augmentation or Augmentation()
    if isinstance(images, Images):
        return MemoryTraining(images.to(device), mean, std, share, augmentation, seed)
    from pascal.data.files import FileTraining  # torchvision takes seconds

    return FileTraining(images, dataset.image_size, mean, std, share, augmentation, seed, device, workers)


def evaluation_batches(
    dataset: Dataset,
    split: Split,
    batch_size: int = 256,
    device: torch.device | str = "cpu",
    rank: int = 0,
    processes: int = 1,
    workers: int = 0,
) -> Iterable[Batch]:
    """Every image of a split (`dataset.test`, a `sample` of `dataset.train`, …) once, in order, unaugmented."""
    mine = split.take(torch.arange(rank, len(split), processes)) if processes > 1 else split
    if isinstance(mine, Images):
        return MemoryEvaluation(mine, dataset.mean, dataset.std, batch_size, device)
    from pascal.data.files import FileEvaluation

    return FileEvaluation(mine, dataset.image_size, dataset.mean, dataset.std, batch_size, device, workers)


def sample(split: Split, images: int, seed: int = 0) -> Split:
    """A random choice of images, by seed: files come sorted by class, so the first ones would not do."""
    if not 1 <= images <= len(split):
        raise PascalError(f"images: got {images}, expected 1 to {len(split)}, the images there are")
    chosen = generator(SAMPLE, seed).permutation(len(split))[:images]
    return split.take(torch.from_numpy(chosen).sort().values)
