"""Images as integers."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from pascal.errors import PascalError


@dataclass(frozen=True)
class Pixels:
    """pixel = round(value / step), a signed integer of `bits` bits.

    Without data, 12 bits of 1/256 hold any usual normalisation, finer than the 8 bits of a camera.
    """

    step: float = 2.0**-8
    bits: int = 12

    def __post_init__(self) -> None:
        if not (math.isfinite(self.step) and self.step > 0):
            raise PascalError(f"pixels.step: got {self.step!r}, expected a finite number > 0")
        if not 2 <= self.bits <= 16:
            raise PascalError(f"pixels.bits: got {self.bits!r}, expected 2 to 16")

    @classmethod
    def fitted(cls, images: Tensor, bits: int = 8) -> "Pixels":
        """The step that just holds these images."""
        return cls(float(images.abs().max()) / cls(bits=bits).largest, bits)

    @property
    def largest(self) -> int:
        """The largest magnitude of a pixel."""
        return 2 ** (self.bits - 1) - 1

    def integers(self, images: Tensor) -> Tensor:
        """Whole numbers, held in float32, which is exact on them."""
        pixels = (images.double() / self.step).round_()
        worst = float(pixels.abs().max()) if pixels.numel() else 0.0
        if worst > self.largest:
            raise PascalError(
                f"images: got a pixel of {worst * self.step:.6g}, {self.bits} bits of {self.step:.6g} end at "
                f"{self.largest * self.step:.6g}; convert with pixels=Pixels.fitted(images)"
            )
        return pixels.to(torch.float32)
