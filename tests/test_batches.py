"""Batches are the same everywhere: an iterable of tensors or pairs, a DataLoader, one tensor; and the error says so."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import pascal
from pascal.adapt import level_histograms


@pytest.fixture(scope="module")
def ann() -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3, 2), nn.ReLU(), nn.Conv2d(4, 4, 3, 2), nn.ReLU(), nn.Flatten())
    return pascal.quantize(model.append(nn.Linear(4, 3)).eval(), levels=2, threshold=1.0).eval()


IMAGES = torch.randn(40, 3, 8, 8, generator=torch.Generator().manual_seed(0))
LABELS = torch.zeros(40, dtype=torch.long)

KINDS: dict[str, Callable[[], Any]] = {
    "tensor": lambda: IMAGES,
    "tensors": lambda: [IMAGES[:20], IMAGES[20:]],
    "pairs": lambda: [(IMAGES[:20], LABELS[:20]), (IMAGES[20:], LABELS[20:])],
    "lists": lambda: [[IMAGES, LABELS]],
    "generator": lambda: ((IMAGES[at : at + 10], LABELS[at : at + 10]) for at in range(0, 40, 10)),
    "loader": lambda: DataLoader(TensorDataset(IMAGES, LABELS), 8),
    "bare loader": lambda: DataLoader(IMAGES, 8),  # type: ignore[arg-type]
}


def _verify(ann: nn.Module, batches: Any) -> Any:
    return pascal.verify(ann, pascal.convert(ann), batches).images


DOORS: dict[str, Callable[[nn.Module, Any], Any]] = {
    "verify": _verify,
    "measure": lambda ann, batches: pascal.measure(ann, batches)[-1].macs,
    "record": lambda ann, batches: pascal.record(pascal.convert(ann), batches).images,
    "cost": lambda ann, batches: pascal.cost(ann, batches).images,
    "cost simulated": lambda ann, batches: pascal.cost(ann, batches, accelerator="loas").images,
    "calibrate": lambda ann, batches: pascal.calibrate(ann, batches).images,
    "plan": lambda ann, batches: list(pascal.plan_levels(ann, batches, "75%", values=(2, 1)).levels),
    "histograms": lambda ann, batches: [counts.sum() for counts in level_histograms(ann, batches).values()],
    "plot": lambda ann, batches: len(pascal.plot.equivalence(ann, batches).axes),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_kind_of_batches_is_read_the_same(door: str, ann: nn.Module) -> None:
    expected = DOORS[door](ann, KINDS["pairs"]())
    for name, kind in KINDS.items():
        assert DOORS[door](ann, kind()) == expected, name


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("batches", [3, None, "images", [], {"images": IMAGES}, IMAGES.numpy()], ids=type)
def test_what_is_no_batch_is_refused_in_words(door: str, batches: Any, ann: nn.Module) -> None:
    with pytest.raises(pascal.PascalError, match=r"batches: got|images: got"):
        DOORS[door](ann, batches)


def test_one_image_without_a_batch_is_told(ann: nn.Module) -> None:
    with pytest.raises(pascal.PascalError, match="got shape"):
        pascal.measure(ann, torch.randn(3))
    assert isinstance(IMAGES, Tensor)
