"""The training loop, on one page: it yields a record per epoch; its caller decides what becomes of it."""

from collections.abc import Callable, Iterator
from typing import Protocol

from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.training.config import TrainingConfig
from pascal.training.distributed import processes, rank
from pascal.training.guard import located
from pascal.training.progress import Progress
from pascal.training.records import EpochRecord, TrainingState
from pascal.training.run import Batches, Run
from pascal.training.state import restore, snapshot

Save = Callable[[TrainingState], None]


class EpochBatches(Protocol):
    """Training data: how many batches an epoch has, and those of one epoch from any of them on."""

    def __len__(self) -> int:
        """Steps per epoch."""

    def epoch(self, epoch: int, start: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
        """The same batches whenever asked for the same epoch and start."""


def train(
    model: nn.Module,
    batches: EpochBatches,
    config: TrainingConfig,
    state: TrainingState | None = None,
    validation: Batches | None = None,
    until: int | None = None,
    save: Save | None = None,
    bar: bool = True,
) -> Iterator[EpochRecord]:
    """Train in place to the end of the schedule, or to the epoch `until`; yields every epoch's record, old ones too.

    `state` continues an earlier training; `save` gets a state every `checkpoint_steps` and at the end of each epoch,
    with `until` 0 that of the beginning.
    """
    last = _last_epoch(config, until, validation)
    run = Run(model, config, len(batches))
    if state is not None:
        restore(run, state)
    elif last == 0:
        _save(run, save)
    yield from run.records
    with Progress(run.step, last * len(batches), config.epochs, bar and rank() == 0) as progress:
        while run.epoch < last:
            with located(run.where, model):
                _finish_steps(run, batches, progress, save)
            with located(lambda: f"end of epoch {run.epoch}", model):
                record = run.finish_epoch(validation)
                _save(run, save)
            progress.epoch(record)
            yield record
    if last == config.epochs:
        run.finish()


def _last_epoch(config: TrainingConfig, until: int | None, validation: Batches | None) -> int:
    if config.selection == "best" and validation is None:
        raise PascalError("selection: got 'best' without validation images; set some aside or choose 'last'")
    if until is not None and not 0 <= until <= config.epochs:
        raise PascalError(f"until: got epoch {until}, expected 0 to {config.epochs}")
    return config.epochs if until is None else until


def _finish_steps(run: Run, batches: EpochBatches, progress: Progress, save: Save | None) -> None:
    """The steps of this epoch that are still to be made."""
    end = (run.epoch + 1) * run.steps_per_epoch
    run.begin_steps()
    for images, labels in batches.epoch(run.epoch, start=run.step % run.steps_per_epoch):
        run.advance(images, labels)
        progress.step(run.where(), len(labels) * processes(), run.tally)
        if run.step % run.config.checkpoint_steps == 0 and run.step < end:
            _save(run, save)
    if run.step != end:
        raise PascalError(f"batches: the epoch ended at step {run.step}, expected {end}: {len(batches)} per epoch")


def _save(run: Run, save: Save | None) -> None:
    if save is not None:
        state = snapshot(run)  # every process adds its sums; the first alone writes
        if rank() == 0:
            save(state)
