"""Random numbers from a key (seed, epoch, step) instead of a history: any batch can be made again on its own."""

import numpy as np
import torch
from torch import Tensor

from pascal.errors import PascalError

SPLIT, SAMPLE, ORDER, AUGMENT, IMAGE = range(1, 6)  # streams that never share a number


def generator(stream: int, *key: int) -> np.random.Generator:
    """The generator of one stream at one key."""
    if any(isinstance(part, bool) or not isinstance(part, int) or part < 0 for part in key):
        raise PascalError(f"seed: got the key {key}, expected whole numbers >= 0")
    return np.random.default_rng([stream, *key])


def epoch_order(images: int, seed: int, epoch: int) -> Tensor:
    """The order in which one epoch visits the training images."""
    return torch.from_numpy(generator(ORDER, seed, epoch).permutation(images))


def image_seed(seed: int, epoch: int, index: int) -> int:
    """A seed for torch's own generator, for transforms that work on one image."""
    return int(generator(IMAGE, seed, epoch, index).integers(2**63))
