"""Where labels are there: a brief and gentle fine-tuning of a calibrated network, kept only if it helps.

A high learning rate undoes what calibration found, and so would new statistics of batch norms, which are folded.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import process_time
from typing import Any

from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.inference import check_model, labelled_batches
from pascal.neurons.levels import registered_layers
from pascal.training.config import TrainingConfig
from pascal.training.evaluate import evaluate
from pascal.training.loop import train

LEARNING_RATE = 0.003


@dataclass(frozen=True)
class FineTuning:
    """The better of two networks on held-out images, and the accuracies of both there."""

    ann: nn.Module = field(repr=False)
    before: float
    after: float
    seconds: float

    @property
    def kept(self) -> bool:
        """Whether `ann` is the fine-tuned network; otherwise it is a copy of the one that came."""
        return self.after > self.before

    def __str__(self) -> str:
        chosen = "kept" if self.kept else "not kept"
        return f"fine-tuning: {self.before:.2%} → {self.after:.2%} on held-out images, {self.seconds:.1f} s; {chosen}"


def fine_tune(
    ann: nn.Module,
    batches: Any,
    held_out: Any,
    epochs: int = 1,
    learning_rate: float = LEARNING_RATE,
    seed: int = 0,
    bar: bool = False,
) -> FineTuning:
    """Train a copy of a calibrated network on (images, labels) batches, and keep it if held-out images gain by it."""
    if not registered_layers(check_model(ann, "ann")):
        raise PascalError(f"ann: {type(ann).__name__} has no QCFS activation; quantize and calibrate it first")
    began = process_time()
    before = evaluate(ann, held_out).accuracy
    tuned, steps = copy.deepcopy(ann), _Epochs(batches)
    config = TrainingConfig(epochs=epochs, learning_rate=learning_rate, weight_decay=0.0, seed=seed)
    for _ in train(tuned.requires_grad_(True), steps, config, bar=bar):
        pass
    after = evaluate(tuned, held_out).accuracy
    chosen = tuned if after > before else copy.deepcopy(ann)
    return FineTuning(chosen.eval(), before, after, process_time() - began)


class _Epochs:
    """Batches that may be gone through again, as the training loop asks for them."""

    def __init__(self, batches: Any) -> None:
        self.batches = batches if hasattr(batches, "__len__") else list(batches)
        if not len(self):
            raise PascalError("batches: got none, expected (images, labels) pairs to train on")

    def __len__(self) -> int:
        return len(self.batches)

    def epoch(self, epoch: int, start: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
        """The batches in their own order, from one of them on."""
        for number, batch in enumerate(labelled_batches(self.batches)):
            if number >= start:
                yield batch
