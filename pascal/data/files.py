"""Batches of a data set that is read from image files by workers; normalised on the model's device."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from PIL.Image import DecompressionBombError
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets.folder import default_loader
from torchvision.transforms import v2

from pascal.data.augment import Augmentation, cut_out, draw_step, normalise
from pascal.data.records import Batch, Colour, Files, Share
from pascal.data.streams import epoch_order, image_seed
from pascal.errors import PascalError


@dataclass(frozen=True)
class FileTraining:
    """Training batches from files: random resized crop, flip, AutoAugment (ImageNet's policy), Cutout."""

    files: Files
    image_size: int
    mean: Colour
    std: Colour
    share: Share
    augmentation: Augmentation
    seed: int
    device: torch.device | str
    workers: int

    def __len__(self) -> int:
        return len(self.files) // self.share.batch_size

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """The batches from step `start` on."""
        order = epoch_order(len(self.files), self.seed, epoch)
        batches = [order[self.share.of_step(step)].tolist() for step in range(start, len(self))]
        reader = _Reader(self.files, _training_transform(self.image_size, self.augmentation), (self.seed, epoch))
        for step, (pixels, labels) in enumerate(_load(reader, self.workers, batch_sampler=batches), start):
            images = normalise(pixels.to(self.device), self.mean, self.std)
            draws = draw_step(self.share, self.seed, epoch, step)
            yield cut_out(images, draws, self.augmentation.cutout), labels.to(self.device)


@dataclass(frozen=True)
class FileEvaluation:
    """Every image once, in order: resized to 8/7 of the size, then its centre."""

    files: Files
    image_size: int
    mean: Colour
    std: Colour
    batch_size: int
    device: torch.device | str
    workers: int

    def __len__(self) -> int:
        return -(-len(self.files) // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        reader = _Reader(self.files, _evaluation_transform(self.image_size), (0, 0))
        for pixels, labels in _load(reader, self.workers, batch_size=self.batch_size):
            yield normalise(pixels.to(self.device), self.mean, self.std), labels.to(self.device)


class _Reader(Dataset[tuple[Tensor, Tensor]]):
    """One image by its index. Its random numbers come from (seed, epoch, index), whichever worker reads it."""

    def __init__(self, files: Files, transform: v2.Transform, key: tuple[int, int]) -> None:
        self.files, self.transform, self.key = files, transform, key

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        path = self.files.paths[index]
        try:
            image = default_loader(path)
        except (OSError, SyntaxError, ValueError, DecompressionBombError) as error:  # what Pillow raises for bad files
            raise PascalError(f"{path}: unreadable image ({error}); replace the file or remove it") from error
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(image_seed(*self.key, index))
            return self.transform(image), self.files.labels[index]

    def __len__(self) -> int:
        return len(self.files)


def _load(reader: _Reader, workers: int, **batching: Any) -> Iterable[Batch]:
    # A generator of its own: the loader seeds its workers from it and would otherwise advance torch's.
    return DataLoader(reader, num_workers=workers, generator=torch.Generator(), **batching)


def _training_transform(image_size: int, augmentation: Augmentation) -> v2.Transform:
    steps: list[v2.Transform] = [v2.RandomResizedCrop(image_size, antialias=True)]
    steps += [v2.RandomHorizontalFlip()] if augmentation.flip else []
    steps += [v2.AutoAugment(v2.AutoAugmentPolicy.IMAGENET)] if augmentation.autoaugment else []
    return v2.Compose([*steps, v2.PILToTensor()])


def _evaluation_transform(image_size: int) -> v2.Transform:
    return v2.Compose([v2.Resize(image_size * 8 // 7, antialias=True), v2.CenterCrop(image_size), v2.PILToTensor()])
