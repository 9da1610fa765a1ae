"""Batches of a data set that lives in memory, augmented on the model's device."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from pascal.data.augment import Augmentation, augment_pixels, cut_out, draw_step, normalise
from pascal.data.records import Batch, Colour, Images, Share
from pascal.data.streams import epoch_order

_AHEAD = 4  # steps augmented at once: fewer and larger calls, the same images


@dataclass(frozen=True)
class MemoryTraining:
    """Training batches from memory."""

    images: Images
    mean: Colour
    std: Colour
    share: Share
    augmentation: Augmentation
    seed: int

    def __len__(self) -> int:
        return len(self.images) // self.share.batch_size

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """The batches from step `start` on, augmented a few steps ahead."""
        order = epoch_order(len(self.images), self.seed, epoch)
        for first in range(start, len(self), _AHEAD):
            steps = range(first, min(first + _AHEAD, len(self)))
            indices = torch.cat([order[self.share.of_step(step)] for step in steps])
            draws = torch.cat([draw_step(self.share, self.seed, epoch, step) for step in steps])
            images, labels = self._augmented(indices, draws)
            yield from zip(images.chunk(len(steps)), labels.chunk(len(steps)), strict=True)

    def _augmented(self, indices: Tensor, draws: Tensor) -> Batch:
        chosen = self.images.take(indices.to(self.images.labels.device))
        images = normalise(augment_pixels(chosen.pixels, draws, self.augmentation), self.mean, self.std)
        return cut_out(images, draws, self.augmentation.cutout), chosen.labels


@dataclass(frozen=True)
class MemoryEvaluation:
    """Every image once, in order, as it is; can be iterated again and again."""

    images: Images
    mean: Colour
    std: Colour
    batch_size: int
    device: torch.device | str

    def __len__(self) -> int:
        return -(-len(self.images) // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        pixels, labels = self.images.pixels.split(self.batch_size), self.images.labels.split(self.batch_size)
        for some, their_labels in zip(pixels, labels, strict=True):
            yield normalise(some.to(self.device), self.mean, self.std), their_labels.to(self.device)
