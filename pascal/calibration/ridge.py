"""The correction of one layer's weights: ridge regression of what is missing on the spikes that really arrive.

(ΔW, Δb) = argmin ‖R − ΔW·x − Δb‖² + λ·mean(diag G)·‖ΔW‖², with R = z of the float network − z of the quantised one
(0 where both are silent), x the patches that the layer reads and G their Gram matrix. The bias is not penalised. Sums
are accumulated batch by batch at random places.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

MOST_COLUMNS, LEAST_COLUMNS, LEAST_OF_GROUP, COLUMNS_PER_WEIGHT = 60_000, 20_000, 4_096, 128


class Ridge:
    """Gram matrices of one convolution or fully connected layer, group by group."""

    def __init__(self, layer: Any, batches: int, generator: torch.Generator) -> None:
        self.layer, self.generator = layer, generator
        self.groups = getattr(layer, "groups", 1)
        self.inputs = layer.weight[0].numel()
        least = max(LEAST_COLUMNS // self.groups, LEAST_OF_GROUP)  # each group has as many
        columns = min(MOST_COLUMNS, max(least, COLUMNS_PER_WEIGHT * self.inputs))
        self.per_batch = -(-columns // batches)
        self.columns = 0
        self._sums: tuple[Tensor, ...] = ()

    def add(self, arriving: Tensor, missing: Tensor) -> None:
        """One batch: what the layer read, and what its output lacks."""
        x, r = self._columns(arriving, missing)
        new = [part.double() for part in (x.mT @ x, x.sum(1), x.mT @ r, r.sum(1))]  # within a batch in x's arithmetic
        self._sums = tuple(a + b for a, b in zip(self._sums, new, strict=True)) if self._sums else tuple(new)
        self.columns += x.shape[1]

    def solve(self, penalty: float) -> tuple[Tensor, Tensor, str]:
        """ΔW, Δb, and why ΔW is zero where it is."""
        gram, x, cross, r = self._sums
        outer = x[:, :, None] @ x[:, None, :] / self.columns
        gram, cross = gram - outer, cross - x[:, :, None] @ r[:, None, :] / self.columns
        scale = gram.diagonal(dim1=1, dim2=2).mean(1)
        note = ""
        if self.columns < 2 * self.inputs:
            note = f"{self.columns} samples for {self.inputs} weights: bias only"
        elif not bool((scale > 0).any()):
            note = "its inputs never change: bias only"
        eye = torch.eye(self.inputs, dtype=gram.dtype, device=gram.device)
        regular = gram + (penalty * scale.clamp_min(torch.finfo(gram.dtype).tiny))[:, None, None] * eye
        factor, failed = torch.linalg.cholesky_ex(regular)
        if not note and bool((failed != 0).any()):
            note = "ill-conditioned: bias only"
        delta = torch.zeros_like(cross) if note else torch.cholesky_solve(cross, factor)
        if not bool(delta.isfinite().all()):
            delta, note = torch.zeros_like(cross), "ill-conditioned: bias only"
        bias = (r - (delta.mT @ x[:, :, None])[:, :, 0]) / self.columns
        return delta.mT.reshape(self.layer.weight.shape), bias.flatten(), note

    def apply(self, penalty: float) -> str:
        """Correct the layer in place; the note of `solve`."""
        delta, bias, note = self.solve(penalty)
        with torch.no_grad():
            self.layer.weight += delta.to(self.layer.weight)
            before = 0 if self.layer.bias is None else self.layer.bias
            self.layer.bias = nn.Parameter((before + bias).to(self.layer.weight))
        return note

    def _columns(self, arriving: Tensor, missing: Tensor) -> tuple[Tensor, Tensor]:
        """Random places of a batch: (groups, places, inputs) and (groups, places, outputs)."""
        if isinstance(self.layer, nn.Linear):
            x, r = arriving.reshape(-1, arriving.shape[-1]), missing.reshape(-1, missing.shape[-1])
            chosen = some(len(x), self.per_batch, self.generator, x.device)
            return x[chosen][None], r[chosen][None]
        images, places = len(missing), missing[0, 0].numel()
        chosen = some(images * places, self.per_batch, self.generator, missing.device)
        image, place = chosen // places, chosen % places
        where: Any = (image, slice(None), *torch.unravel_index(place, missing.shape[2:]))
        x = _patches(self.layer, arriving)[where]
        r = missing.flatten(2)[image, :, place]
        return x.reshape(len(x), self.groups, -1).movedim(1, 0), r.reshape(len(r), self.groups, -1).movedim(1, 0)


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
