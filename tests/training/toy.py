"""A network and a task small enough to be trained in every test, also as a process that can be killed.

`python -m tests.training.toy FOLDER` trains with a checkpoint in FOLDER and says `step N` after each step.
`torchrun -m tests.training.toy FOLDER together` trains with several processes, `... validated` with batch norm of each.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from pascal.files import write_tensors
from pascal.neurons import QCFS
from pascal.training import (
    Checkpoint,
    TrainingConfig,
    TrainingState,
    process_group,
    processes,
    rank,
    save_state,
    train,
    weights,
)

CONFIG = TrainingConfig(epochs=6, learning_rate=0.05, checkpoint_steps=3, seed=5)
SHORT = replace(
    CONFIG, decay="linear", nesterov=True, decay_norms=False, decay_thresholds=False, label_smoothing=0.1, average=0.9
)


@dataclass(frozen=True)
class ToyBatches:
    """Images of a colour: the label says which channel is the brightest."""

    steps: int = 8
    size: int = 16
    dtype: torch.dtype = torch.float32
    rank: int = 0
    processes: int = 1
    spoken: bool = False

    def __len__(self) -> int:
        return self.steps

    def epoch(self, epoch: int, start: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
        for step in range(start, self.steps):
            generator = np.random.default_rng([epoch, step])
            images = torch.from_numpy(generator.normal(size=(self.size, 3, 8, 8))).to(self.dtype)
            labels = torch.from_numpy(generator.integers(0, 3, self.size))
            images[torch.arange(self.size), labels] += 0.5
            yield images[self.rank :: self.processes], labels[self.rank :: self.processes]
            if self.spoken:
                print(f"step {epoch * self.steps + step}", flush=True)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return self.epoch(1000)


class FrozenBatchNorm(nn.BatchNorm2d):
    """Batch norm whose statistics stay as they are, in training too."""

    def train(self, mode: bool = True) -> "FrozenBatchNorm":
        return super().train(False)


def toy_network(seed: int = 0, levels: int = 4, norm: type[nn.BatchNorm2d] = nn.BatchNorm2d) -> nn.Sequential:
    """Two convolutions, dropout, three classes."""
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, bias=False),
        norm(8),
        QCFS(levels, 2.0),
        nn.Conv2d(8, 8, 3, bias=False),
        norm(8),
        QCFS(levels, 2.0),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.1) if norm is nn.BatchNorm2d else nn.Identity(),
        nn.Linear(8, 3),
    )


def train_alone(folder: Path) -> None:
    """Go on from the checkpoint in `folder`, if there is one; the finished weights are `ann.safetensors`."""
    network, checkpoint = toy_network(), Checkpoint(folder, "key")
    records = list(
        train(
            network, ToyBatches(spoken=True), CONFIG, checkpoint.load(), validation=ToyBatches(), save=checkpoint.save
        )
    )
    write_tensors(folder / "ann.safetensors", weights(network))
    rows = [{**asdict(record), "seconds": 0.0} for record in records]
    (folder / "train.json").write_text(json.dumps(rows))


def train_together(folder: Path) -> None:
    """20 epochs of one step each, so that each record holds one step's loss; every process tries to write."""
    with process_group("cpu"):
        network = toy_network(norm=FrozenBatchNorm).double()
        batches = ToyBatches(1, 32, torch.float64, rank(), processes())
        config = TrainingConfig(epochs=20, learning_rate=0.1)

        def save(state: TrainingState) -> None:
            save_state(folder / f"rank{rank()}.safetensors", state)

        records = list(train(network, batches, config, save=save, validation=batches, bar=False))
        if rank() == 0:
            (folder / "losses.json").write_text(json.dumps([(r.loss, r.validation_accuracy) for r in records]))


def train_validated(folder: Path) -> None:
    """Batch norm that differs between processes; the first one's weights of every epoch, and the accuracies told."""
    with process_group("cpu"):
        network, accuracies = toy_network().double(), []
        batches = ToyBatches(4, 8, torch.float64, rank(), processes())
        validation = ToyBatches(4, 64, torch.float64, rank(), processes())
        for record in train(network, batches, CONFIG, validation=validation, bar=False):
            accuracies.append(record.validation_accuracy)
            if rank() == 0:
                write_tensors(folder / f"{record.epoch}.safetensors", weights(network))
                (folder / "accuracies.json").write_text(json.dumps(accuracies))


_MODES = {(): train_alone, ("together",): train_together, ("validated",): train_validated}

if __name__ == "__main__":
    torch.set_num_threads(1)
    _MODES[tuple(sys.argv[2:])](Path(sys.argv[1]))
