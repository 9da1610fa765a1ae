"""A run as a state that can be saved, and a run continued from a state."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.training.copies import own_copy, weights
from pascal.training.distributed import rank
from pascal.training.guard import check_finite
from pascal.training.records import Tally, TrainingState
from pascal.training.run import Run

_MODEL, _MOMENTUM, _BEST, _AVERAGE = "model/", "momentum/", "best/", "average/"
_EXTRA_STATE = "_extra_state"


def snapshot(run: Run) -> TrainingState:
    """The run as it stands; refused if anything in it is no number."""
    tally = run.global_tally()
    tensors = _prefixed(_MODEL, weights(run.model)) | _prefixed(_MOMENTUM, _momenta(run))
    tensors |= _prefixed(_AVERAGE, {name: own_copy(tensor) for name, tensor in run.average.tensors.items()})
    tensors["tally"] = torch.tensor([tally.loss, tally.correct, tally.images], dtype=torch.float64)
    if run.best_weights:
        tensors |= _prefixed(_BEST, run.best_weights)
        tensors["best_accuracy"] = torch.tensor(run.best_accuracy, dtype=torch.float64)
    check_finite(tensors)
    return TrainingState(run.step, run.steps_per_epoch, tensors, tuple(run.records), tally.seconds)


def model_weights(state: TrainingState) -> dict[str, Tensor]:
    """The weights of the network in a state."""
    return _part(state.tensors, _MODEL)


def with_weights(state: TrainingState, changed: Mapping[str, Tensor]) -> TrainingState:
    """A state with some other weights; all else, momenta too, stays."""
    return replace(state, tensors={**state.tensors, **_prefixed(_MODEL, changed)})


def restore(run: Run, state: TrainingState) -> None:
    """Go on from a state. Levels stay the model's own: Algorithm 4 changes them at this very point."""
    if state.steps_per_epoch != run.steps_per_epoch:
        raise PascalError(
            f"state: has {state.steps_per_epoch} steps per epoch, the batches have {run.steps_per_epoch}; "
            "use the data and batch_size it was trained with"
        )
    levels_kept = _load_weights(run.model, model_weights(state))
    _load_momenta(run, _part(state.tensors, _MOMENTUM))
    run.average.load(_part(state.tensors, _AVERAGE) if levels_kept else {})  # weights of other levels are no company
    run.step, run.records = state.step, list(state.records)
    loss, correct, images = state.tensors["tally"].tolist()
    # The sums are those of all processes, and will be added over all of them again.
    run.tally = Tally(loss, correct, images, state.seconds) if rank() == 0 else Tally(seconds=state.seconds)
    if "best_accuracy" in state.tensors and levels_kept:  # the best epoch of another network is no candidate
        run.best_accuracy = state.tensors["best_accuracy"].item()
        run.best_weights = _part(state.tensors, _BEST)


def _load_weights(model: nn.Module, tensors: dict[str, Tensor]) -> bool:
    """Load all but the levels; whether those are the same too."""
    own = {name: tensor for name, tensor in model.state_dict().items() if name.endswith(_EXTRA_STATE)}
    differing = sorted(set(tensors) ^ set(model.state_dict()))
    if differing:
        raise PascalError(
            f"state and network disagree on {differing[:5]}; build the network the state was trained with"
        )
    try:
        model.load_state_dict(tensors | own)
    except RuntimeError as error:
        raise PascalError(f"state and network disagree: {error}") from error
    return all(torch.equal(tensors[name], tensor.cpu()) for name, tensor in own.items())


def _momenta(run: Run) -> dict[str, Tensor]:
    buffers = {name: run.optimiser.state[p].get("momentum_buffer") for name, p in run.model.named_parameters()}
    return {name: own_copy(buffer) for name, buffer in buffers.items() if buffer is not None}


def _load_momenta(run: Run, tensors: dict[str, Tensor]) -> None:
    for name, parameter in run.model.named_parameters():
        if name in tensors:
            run.optimiser.state[parameter]["momentum_buffer"] = torch.empty_like(parameter).copy_(tensors[name])


def _prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {prefix + name: tensor for name, tensor in tensors.items()}


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
