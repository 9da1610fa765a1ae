"""One training of a run: from its parameters to a trained network, with a checkpoint behind it."""

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from pascal.data import Augmentation, Dataset, evaluation_batches, training_batches
from pascal.data.records import Batch
from pascal.errors import PascalError
from pascal.files import write_rows
from pascal.neurons import QCFS
from pascal.neurons.levels import apply_levels, registered_layers
from pascal.pipeline.canonical import digest
from pascal.pipeline.models import load_own_weights, new_network, open_dataset
from pascal.pipeline.processes import launch
from pascal.pipeline.stage import reading
from pascal.training import (
    Checkpoint,
    EpochRecord,
    TrainingConfig,
    TrainingState,
    load_state,
    process_group,
    processes,
    rank,
    train,
)
from pascal.training.loop import EpochBatches
from pascal.training.steps import FirstSteps

if TYPE_CHECKING:
    from pascal.pipeline.parameters.stages import TrainStage
    from pascal.pipeline.parameters.train import Train

CHECKPOINTS = Path("work/checkpoints")
STATES = Path("work/states")
_EVALUATION_BATCH = 256
_CONFIG = {field.name for field in fields(TrainingConfig)}
_CONTENT = ("data", "weights", "state", "ann", "levels", "plan")  # inputs that a training follows from
_COLUMNS = [field.name for field in fields(EpochRecord)]


@dataclass(frozen=True)
class Training:
    """What a training needs, the key under which it goes on, and the one under which others find its states."""

    params: "TrainStage"
    config: TrainingConfig
    dataset: Dataset
    network: nn.Module
    key: str
    shared: str = ""
    steps: int | None = None  # of one short epoch, in the place of whole ones

    @property
    def layers(self) -> dict[str, QCFS]:
        """The network's QCFS layers by path."""
        return registered_layers(self.network)

    def set_levels(self, levels: Mapping[str, int]) -> None:
        """Levels by layer, in the place of the uniform ones."""
        apply_levels(self.layers, levels)

    def records(
        self,
        key: str,
        state: TrainingState | None = None,
        until: int | None = None,
        reached: Callable[[TrainingState], None] = lambda state: None,
    ) -> Iterator[EpochRecord]:
        """Train, going on from the checkpoint under `key` if a training was interrupted; `reached` sees every state.

        Of several processes only the first comes back from here, so that it alone writes results.
        """
        launch(self.params.train.processes)
        checkpoint = Checkpoint(CHECKPOINTS, key)

        def save(state: TrainingState) -> None:
            reached(state)  # first: a kill in between makes these steps again
            checkpoint.save(state)

        with process_group(self.params.device) as device:
            first = rank() == 0
            self.network.to(device)
            batches, validation = self._batches(device)
            yield from train(self.network, batches, self.config, _newest(checkpoint) or state, validation, until, save)
        if not first:
            sys.exit()

    def _batches(self, device: torch.device) -> tuple[EpochBatches, Iterable[Batch] | None]:
        """This process's share of the training images, and of those held out, if any are."""
        settings, data = self.params.train, self.dataset
        share = {"rank": rank(), "processes": processes(), "workers": settings.workers}
        augmentation = Augmentation(**settings.augmentation.model_dump())
        batches: EpochBatches = training_batches(
            data, settings.batch_size, augmentation, self.config.seed, device, **share
        )
        if self.steps is not None:
            batches = FirstSteps(batches, self.steps)
        if not len(data.validation):
            return batches, None
        return batches, evaluation_batches(data, data.validation, _EVALUATION_BATCH, device, **share)


def _newest(checkpoint: Checkpoint) -> TrainingState | None:
    """The state to go on from; a damaged one costs its steps, no more."""
    try:
        return checkpoint.load()
    except PascalError as error:
        print(f"{error}: set aside, training starts again", file=sys.stderr)
        checkpoint.set_aside()
        return None


def prepare_training(params: "TrainStage", job: Any, levels: Any) -> Training:
    """Data and network of a run; weights follow from the seed, or come from the run's own file."""
    seed = int(job.wildcards.seed)
    config = training_config(params.train, seed)
    torch.manual_seed(seed)
    network = new_network(params, job.input.data, levels, params.train.threshold)
    if weights := job.input.get("weights"):
        load_own_weights(network, weights, f"runs.{job.wildcards.run}")
    dataset, keys = open_dataset(job.input.data), training_keys(params, job)
    return Training(params, config, dataset, network, *keys)


def training_config(settings: "Train", seed: int) -> TrainingConfig:
    """The part of `train`'s parameters that the training loop reads; where nothing is trained, of one epoch."""
    own = {key: value for key, value in settings if key in _CONFIG}
    return TrainingConfig(seed=seed, **own | ({} if settings.epochs else {"epochs": 1, "warmup_epochs": 0}))


def load_kept_state(path: str) -> TrainingState:
    """The state that stage retrain wrote; a damaged one is set aside."""
    with reading(path):
        return load_state(path)


def newest_state(key: str) -> TrainingState:
    """The state in which the training under `key` ended."""
    state = Checkpoint(CHECKPOINTS, key).load()
    assert state is not None
    return state


def training_keys(params: "TrainStage", job: Any) -> tuple[str, str]:
    """Digests of all that a training depends on: parameters, seed, data, start, levels and code.

    The second leaves the stage's script out: where train and retrain do the same, one goes on from the other's states.
    """
    own = params.model_dump(mode="json", exclude={"adapt"})
    files = [path for name in _CONTENT for path in _paths(job.input.get(name))]
    content = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in files]
    code = Path(job.input.code).read_text(encoding="utf-8").splitlines()
    package = [line for line in code if not line.endswith(f"/scripts/{job.rule}.py")]
    depends = {"params": own, "tuning": _tuning(params), "seed": job.wildcards.seed, "content": content}
    return digest(depends | {"code": code}), digest(depends | {"code": package})


def _tuning(params: "TrainStage") -> Any:
    """What is trained after levels change, if this is such a training."""
    adapt = getattr(params, "adapt", None)
    return adapt.model_dump(mode="json", include={"finetune", "gentle"}) if adapt else {}


def _paths(files: Any) -> list[str]:
    return [files] if isinstance(files, str) else list(files or [])


def write_curve(
    path: str | PathLike[str], records: Sequence[EpochRecord], before: Sequence[Mapping[str, Any]] = ()
) -> None:
    """`train.csv`: one row per epoch."""
    write_rows(path, _COLUMNS, [*before, *map(asdict, records)])
