"""The whole comparison as the pipeline and the studies make it: every row says of which network it is."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pascal.baselines.compare import compare
from pascal.baselines.radix import bits_of
from pascal.baselines.refit import with_whole_bits
from pascal.baselines.row import table
from pascal.graph import get_levels
from pascal.inference import labelled_batches

_CLOCK = ("seconds", "memory_bytes")  # of one machine on one day: the last columns


def whole_comparison(
    ann: nn.Module, batches: Any, methods: Mapping[str, Sequence[int]], calibration: Sequence[Tensor], **settings: Any
) -> list[dict[str, Any]]:
    """Rows for a CSV file. Where levels are not 2ⁿ − 1, `radix` runs on a copy with refitted ones, and PASC beside it.

    `settings` are those of `compare`.
    """
    refitted = "radix" in methods and not all(bits_of(levels) for levels in get_levels(ann).values())
    own = {name: grid for name, grid in methods.items() if not (refitted and name == "radix")}
    rows = _rows(ann, batches, own, calibration, "", settings) if own else []
    if refitted:
        twin = with_whole_bits(ann, calibration)
        beside = {name: methods.get(name, (1,)) for name in ("radix", "pasc")}
        rows += _rows(twin, batches, beside, calibration, ", thresholds refitted", settings)
    return [{name: row[name] for name in (*(each for each in row if each not in _CLOCK), *_CLOCK)} for row in rows]


def _rows(
    ann: nn.Module, batches: Any, methods: Mapping[str, Sequence[int]], calibration: Any, note: str, settings: Any
) -> list[dict[str, Any]]:
    levels = ", ".join(map(str, sorted(set(get_levels(ann).values()), reverse=True)))
    found = compare(ann, batches, methods, calibration=calibration, **settings)
    about = {"levels": f"{levels}{note}", "ann_accuracy": _accuracy(ann, batches)}
    return [{name: row[name] for name in _KEYS} | about | row for row in table(found)]


_KEYS = ("method", "label", "answer")  # of a row: its first three cells


@torch.no_grad()
def _accuracy(ann: nn.Module, batches: Any) -> float:
    right = images = 0
    for shown, labels in labelled_batches(batches):
        right += int((ann(shown).argmax(1) == labels).sum())
        images += len(labels)
    return right / images
