"""The correction of one layer's weights: ridge regression of what is missing on the spikes that really arrive.

(ΔW, Δb) = argmin ‖R − ΔW·x − Δb‖² + λ·mean(diag G)·‖ΔW‖², with R = z of the float network − z of the quantised one
(0 where both are silent), x the patches that the layer reads and G their Gram matrix. The bias is not penalised. Sums
are accumulated batch by batch at random places, apart for every fourth image: a correction that is fitted to the other
images and does not serve these is not made.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

MOST_COLUMNS, LEAST_COLUMNS, LEAST_OF_GROUP, COLUMNS_PER_WEIGHT = 60_000, 20_000, 4_096, 128
PENALTY = 0.1  # λ: on images held out from training, better than 0.001, 0.01 and 1 for ResNet-20 and EfficientNet-Lite0
CHECKED = 4  # every so many images are for the check

Fitted = tuple[Tensor, Tensor]  # ΔW (groups, inputs, outputs) and Δb (groups, outputs)


class Sums(NamedTuple):
    """Σ over columns of patches x and of what is missing, r; one matrix for each group."""

    columns: int
    gram: Tensor  # Σ x xᵀ
    x: Tensor
    cross: Tensor  # Σ x rᵀ
    r: Tensor

    @classmethod
    def of(cls, x: Tensor, r: Tensor) -> "Sums":
        """Of (groups, places, inputs) and (groups, places, outputs), within a batch in their own arithmetic."""
        return cls(x.shape[1], *(part.double() for part in (x.mT @ x, x.sum(1), x.mT @ r, r.sum(1))))

    def with_(self, other: "Sums") -> "Sums":
        """Those of both."""
        tensors = (a + b for a, b in zip(self[1:], other[1:], strict=True))
        return Sums(self.columns + other.columns, *tensors)

    def fitted(self) -> Fitted | None:
        """The solution, or None where the system is ill-conditioned."""
        columns = max(self.columns, 1)
        gram = self.gram - self.x[:, :, None] @ self.x[:, None, :] / columns
        cross = self.cross - self.x[:, :, None] @ self.r[:, None, :] / columns
        scale = gram.diagonal(dim1=1, dim2=2).mean(1).clamp_min(torch.finfo(gram.dtype).tiny)
        eye = torch.eye(gram.shape[1], dtype=gram.dtype, device=gram.device)
        factor, failed = torch.linalg.cholesky_ex(gram + (PENALTY * scale)[:, None, None] * eye)
        if bool((failed != 0).any()):
            return None
        delta = torch.cholesky_solve(cross, factor)
        return (delta, self._bias(delta)) if bool(delta.isfinite().all()) else None

    def shifted(self) -> Fitted:
        """The best bias, weights as they are."""
        delta = torch.zeros_like(self.cross)
        return delta, self._bias(delta)

    def _bias(self, delta: Tensor) -> Tensor:
        return (self.r - (delta.mT @ self.x[:, :, None])[:, :, 0]) / max(self.columns, 1)

    def gain(self, fitted: Fitted) -> float:
        """By how much a correction lessens Σ ‖r‖² of these columns."""
        delta, bias = fitted
        linear = (delta * self.cross).sum() + (bias * self.r).sum()
        square = (delta * (self.gram @ delta)).sum() + self.columns * bias.square().sum()
        return float(2 * linear - square - 2 * (bias * (delta.mT @ self.x[:, :, None])[:, :, 0]).sum())


class Ridge:
    """The correction of one convolution or fully connected layer, group by group."""

    def __init__(self, layer: Any, batches: int, generator: torch.Generator) -> None:
        self.layer, self.generator = layer, generator
        self.groups = getattr(layer, "groups", 1)
        self.inputs = layer.weight[0].numel()
        least = max(LEAST_COLUMNS // self.groups, LEAST_OF_GROUP)  # each group has as many
        columns = min(MOST_COLUMNS, max(least, COLUMNS_PER_WEIGHT * self.inputs))
        self.per_batch = -(-columns // batches)
        self.images = 0
        self._sums: list[Sums | None] = [None, None]  # of the images that are fitted, and of those for the check

    @property
    def columns(self) -> int:
        """How many there are in all."""
        return sum(sums.columns for sums in self._sums if sums is not None)

    def add(self, arriving: Tensor, missing: Tensor) -> None:
        """One batch: what the layer read, and what its output lacks."""
        image, x, r = self._columns(arriving, missing)
        checks = (self.images + image) % CHECKED == CHECKED - 1
        for part, chosen in enumerate((~checks, checks)):
            if bool(chosen.any()):
                new, known = Sums.of(x[:, chosen], r[:, chosen]), self._sums[part]
                self._sums[part] = new if known is None else known.with_(new)
        self.images += len(missing)

    def solve(self) -> tuple[Tensor, Tensor, str]:
        """ΔW, Δb, and why ΔW is zero where it is."""
        fits, checks = self._sums
        total = fits.with_(checks) if fits and checks else fits or checks
        assert total is not None
        note = _objection(fits, checks)
        fitted = None if note else total.fitted()
        delta, bias = fitted or total.shifted()
        return delta.mT.reshape(self.layer.weight.shape), bias.flatten(), note

    def apply(self) -> str:
        """Correct the layer in place; the note of `solve`."""
        delta, bias, note = self.solve()
        with torch.no_grad():
            self.layer.weight += delta.to(self.layer.weight)
            before = 0 if self.layer.bias is None else self.layer.bias
            self.layer.bias = nn.Parameter((before + bias).to(self.layer.weight))
        return note

    def _columns(self, arriving: Tensor, missing: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Random places of a batch: their images, (groups, places, inputs) and (groups, places, outputs)."""
        if isinstance(self.layer, nn.Linear):
            x, r = arriving.reshape(-1, arriving.shape[-1]), missing.reshape(-1, missing.shape[-1])
            chosen = some(len(x), self.per_batch, self.generator, x.device)
            return chosen * len(missing) // len(x), x[chosen][None], r[chosen][None]
        images, places = len(missing), missing[0, 0].numel()
        chosen = some(images * places, self.per_batch, self.generator, missing.device)
        image, place = chosen // places, chosen % places
        where: Any = (image, slice(None), *torch.unravel_index(place, missing.shape[2:]))
        x = _patches(self.layer, arriving)[where]
        r = missing.flatten(2)[image, :, place]
        x, r = (values.reshape(len(values), self.groups, -1).movedim(1, 0) for values in (x, r))
        return image, x, r


def _objection(fits: Sums | None, checks: Sums | None) -> str:
    """Why a bias alone is better than new weights, if it is."""
    if fits is None or checks is None:
        return "too few images to check it by: bias only"
    if not bool((fits.gram.diagonal(dim1=1, dim2=2) * fits.columns > fits.x.square()).any()):
        return "its inputs never change: bias only"
    fitted = fits.fitted()
    if fitted is None:
        return "ill-conditioned: bias only"
    if checks.gain(fitted) <= checks.gain(fits.shifted()):
        return "a correction of the weights does not carry over to other images: bias only"
    return ""


def some(total: int, wanted: int, generator: torch.Generator, device: torch.device) -> Tensor:
    """Up to `wanted` different numbers below `total`."""
    return torch.randperm(total, generator=generator)[:wanted].to(device)


def _patches(conv: Any, images: Tensor) -> Tensor:
    """What each output place reads, as a view: (N, C, *places, *kernel)."""
    mode = "constant" if conv.padding_mode == "zeros" else conv.padding_mode
    images = F.pad(images, conv._reversed_padding_repeated_twice, mode)
    for axis, (kernel, dilation, stride) in enumerate(
        zip(conv.kernel_size, conv.dilation, conv.stride, strict=True), start=2
    ):
        images = images.unfold(axis, (kernel - 1) * dilation + 1, stride)[..., ::dilation]
    return images
