"""Augmentation of whole batches on the model's device: crop, flip, AutoAugment, Cutout.

Every random number is drawn per image beforehand, so that a batch can be cut or joined without changing an image.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from pascal.data.records import Share
from pascal.data.streams import AUGMENT, generator
from pascal.errors import PascalError


@dataclass(frozen=True)
class Augmentation:
    """Which augmentations, in the order they are applied; `crop` is the padding and `cutout` the side, in pixels."""

    crop: int = 4
    flip: bool = True
    autoaugment: bool = False
    cutout: int = 0

    def __post_init__(self) -> None:
        for name in ("crop", "cutout"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise PascalError(f"augmentation.{name}: got {value!r}, expected pixels >= 0")


# Columns of the random numbers in [0, 1) that each image draws, whichever augmentations are on.
_CROP, _FLIP, _CUTOUT, _POLICY, _APPLY, _SIGN = slice(0, 2), 2, slice(3, 5), 5, slice(6, 8), slice(8, 10)
_COLUMNS = 10


def draw_step(share: Share, seed: int, epoch: int, step: int) -> Tensor:
    """One row per image, drawn for all processes and then shared out: their number changes no image."""
    draws = generator(AUGMENT, seed, epoch, step).random((share.batch_size, _COLUMNS))
    return torch.from_numpy(draws[share.of_step(0)])


def augment_pixels(pixels: Tensor, draws: Tensor, augmentation: Augmentation) -> Tensor:
    """The augmentations that work on uint8 pixels.

    Shape: (N, 3, H, W) → the same.
    """
    if augmentation.crop:
        pixels = random_crop(pixels, _below(2 * augmentation.crop + 1, draws[:, _CROP]), augmentation.crop)
    if augmentation.flip:
        pixels = random_flip(pixels, draws[:, _FLIP] < 0.5)
    if augmentation.autoaugment:
        from pascal.data.autoaugment import POLICIES, auto_augment  # torchvision takes seconds

        policy = _below(len(POLICIES), draws[:, _POLICY])
        pixels = auto_augment(pixels, policy, draws[:, _APPLY], draws[:, _SIGN] < 0.5)
    return pixels


def random_crop(pixels: Tensor, offsets: Tensor, padding: int) -> Tensor:
    """The window at `offsets` (N, 2) of each image, padded with black by `padding` on every side."""
    height, width = pixels.shape[2:]
    windows = F.pad(pixels, [padding] * 4).unfold(2, height, 1).unfold(3, width, 1)
    rows, columns = offsets.to(pixels.device).unbind(1)
    return windows[torch.arange(len(pixels), device=pixels.device), :, rows, columns]


def random_flip(pixels: Tensor, flipped: Tensor) -> Tensor:
    """Left and right exchanged where `flipped` (N,) says so."""
    return torch.where(flipped.to(pixels.device)[:, None, None, None], pixels.flip(3), pixels)


def cut_out(images: Tensor, draws: Tensor, side: int) -> Tensor:
    """A square of zeros, the mean once images are normalised, around a random pixel; cut off at the border."""
    if not side:
        return images
    height, width = images.shape[2:]
    centre = _below(torch.tensor([height, width]), draws[:, _CUTOUT]).to(images.device)
    rows, columns = (_covered(centre[:, axis], size, side) for axis, size in enumerate((height, width)))
    return images.masked_fill_(rows[:, None, :, None] & columns[:, None, None, :], 0)


def _below(bound: Tensor | int, draws: Tensor) -> Tensor:
    return (draws * bound).long()


def _covered(centre: Tensor, size: int, side: int) -> Tensor:
    first = centre[:, None] - side // 2
    pixel = torch.arange(size, device=centre.device)
    return (pixel >= first) & (pixel < first + side)


def normalise(pixels: Tensor, mean: tuple[float, ...], std: tuple[float, ...]) -> Tensor:
    """uint8 pixels as float32: (x/255 − mean)/std per channel."""
    centre, spread = (torch.tensor(colour, device=pixels.device)[:, None, None] for colour in (mean, std))
    return pixels.float().div_(255).sub_(centre).div_(spread)
