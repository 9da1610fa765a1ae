"""The equivalence certificate: two networks compared neuron by neuron, layer by layer, readout included."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.graph.certificate import LayerVerification, Verification
from pascal.graph.counts import CountsSNN
from pascal.graph.digests import DataDigest, model_digest, versions
from pascal.graph.images import dtype_and_device
from pascal.graph.integer import IntegerSNN
from pascal.graph.integer.snn import IntegerStepsSNN
from pascal.graph.network import SpikingNetwork
from pascal.graph.observe import Observation, observe
from pascal.graph.outputs import Outputs
from pascal.graph.readout import readout_of
from pascal.graph.steps import SteppedSNN
from pascal.inference import check_model, image_batches, undisturbed

_INTEGER = (IntegerSNN, IntegerStepsSNN)
_ENGINES = (
    (SteppedSNN, "steps"),
    (CountsSNN, "counts"),
    (IntegerSNN, "integer"),
    (IntegerStepsSNN, "integer, stepwise"),
)


def verify(
    ann: nn.Module, snn: nn.Module, batches: Any, *, class_axis: int = 1, date: str | None = None
) -> Verification:
    """Compare any two networks with the same layers: ANN and SNN, or two engines.

    `batches` yields image tensors, or (images, labels) pairs; any number of images is streamed. Both networks run in
    evaluation mode and are left as they came. Predictions are the largest along `class_axis` of every output. `date`
    stands in the certificate as it is given.
    """
    check_model(ann, "ann"), check_model(snn, "snn")
    _check_options(class_axis, date)
    dtypes = [dtype_and_device(model)[0] for model in (ann, snn)]
    exact = isinstance(ann, _INTEGER) and isinstance(snn, _INTEGER)
    outputs = Outputs(readout_of(ann), 0.0 if exact else _roundoff(dtypes), class_axis)
    # A count tells the whole train of PASC, of the ANN too, so that one simulation is enough to have both.
    trains = _neuron(ann) == _neuron(snn) and (_simulates(ann) or _simulates(snn))
    layers: dict[str, LayerVerification] = {}
    images, data = 0, DataDigest()
    with undisturbed(ann), undisturbed(snn):
        for pixels in image_batches(batches):
            expected, got = observe(ann, pixels, trains), observe(snn, pixels, trains)
            _compare(layers, expected, got, len(pixels), trains)
            outputs.compare(expected, got, pixels)
            images += len(pixels)
            data.add(pixels)
    if images == 0:
        raise PascalError("batches: got no images, expected at least one batch")
    return _certificate(
        layers,
        outputs,
        images=images,
        dtype=str(dtypes[1]).removeprefix("torch."),
        engine=_engine(snn),
        model_digest=model_digest(ann),
        snn_digest=model_digest(snn),
        data_digest=data.hexdigest(),
        date=date,
    )


def _certificate(layers: dict[str, LayerVerification], outputs: Outputs, **about: Any) -> Verification:
    neurons = tuple(layers.values())
    checked = (*neurons, *outputs.layers(set(layers)))
    trains = [layer.train_mismatches for layer in neurons if layer.train_mismatches is not None]
    return Verification(
        neurons=sum(layer.neurons for layer in neurons),
        count_mismatches=sum(layer.mismatches for layer in neurons),
        train_mismatches=sum(trains) if trains else None,
        prediction_mismatches=outputs.predictions,
        prediction_ties=outputs.ties,
        logit_mismatches=sum(layer.mismatches for layer in checked[len(neurons) :]),
        max_logit_error=max(layer.error or 0.0 for layer in checked[len(neurons) :]),
        logit_bound=max(layer.bound or 0.0 for layer in checked[len(neurons) :]),
        first_divergence=next((layer.path for layer in checked if layer.differs), None),
        layers=checked,
        class_axis=outputs.class_axis,
        versions=versions(),
        **about,
    )


def _check_options(class_axis: Any, date: Any) -> None:
    if isinstance(class_axis, bool) or not isinstance(class_axis, int) or class_axis == 0:
        raise PascalError(f"class_axis: got {class_axis!r}, expected the number of an axis other than 0, the images'")
    if date is not None and not isinstance(date, str):
        raise PascalError(f"date: got {date!r}, expected text, such as '2026-01-31'")


def _engine(snn: nn.Module) -> str:
    """What computed the spikes; of a network that has none, its class."""
    named = next((name for kind, name in _ENGINES if isinstance(snn, kind)), type(snn).__name__)
    return named if _neuron(snn) == "pasc" else f"{named}, neuron {_neuron(snn)}"


def _neuron(model: nn.Module) -> str:
    return model.neuron if isinstance(model, SpikingNetwork) else "pasc"


def _simulates(model: nn.Module) -> bool:
    return isinstance(model, SpikingNetwork) and type(model).trains is not SpikingNetwork.trains


def _roundoff(dtypes: list[torch.dtype]) -> float:
    """u of the coarser of the two."""
    return max(torch.finfo(dtype).eps for dtype in dtypes) / 2


def _compare(
    layers: dict[str, LayerVerification], expected: Observation, got: Observation, images: int, trains: bool
) -> None:
    if set(expected.counts) != set(got.counts):
        differing = sorted(set(expected.counts) ^ set(got.counts))
        raise PascalError(f"the two networks do not have the same layers: {differing}; convert this very network again")
    if not expected.counts:
        raise PascalError("ann and snn have no neurons to compare; call pascal.quantize(model), then convert it")
    for path, count in expected.counts.items():
        if count.shape != got.counts[path].shape:
            shapes = tuple(count.shape), tuple(got.counts[path].shape)
            raise PascalError(f"{path}: shapes {shapes[0]} and {shapes[1]} differ; convert this very network again")
        if count.ndim == 0 or len(count) % images:
            raise PascalError(f"{path}: counts {tuple(count.shape)} of {images} images, expected (N, …) of N images")
        compared = _compared(layers.get(path, LayerVerification(path)), path, expected, got)
        layers[path] = _with_trains(compared, expected.train(path), got.train(path)) if trains else compared


def _compared(before: LayerVerification, path: str, expected: Observation, got: Observation) -> LayerVerification:
    """The layer's record with another batch."""
    count, distances = expected.counts[path], expected.distances.get(path)
    differs = count != got.counts[path].to(count.device)
    after = replace(before, neurons=before.neurons + count.numel(), mismatches=before.mismatches + int(differs.sum()))
    if distances is not None:
        after = replace(
            after,
            boundary_distance=_farthest(before.boundary_distance, distances, differs),
            margin=min(float(distances.min()), torch.inf if before.margin is None else before.margin),
            ties=(before.ties or 0) + int((distances == 0).sum()),
        )
    return after


def _farthest(before: float | None, distances: Tensor, differs: Tensor) -> float | None:
    if not bool(differs.any()):
        return before
    return max(before or 0.0, float(torch.where(differs, distances, 0).max()))


def _with_trains(before: LayerVerification, mine: Tensor | None, theirs: Tensor | None) -> LayerVerification:
    """Spikes compared in every timestep, where both sides have a train; the shorter one is silent afterwards."""
    if mine is None or theirs is None:
        return before
    timesteps = max(len(mine), len(theirs))
    differs = _lasting(mine, timesteps) != _lasting(theirs.to(mine.device), timesteps)
    at = differs.flatten(1).any(1).nonzero().flatten().tolist()
    firsts = [first for first in (before.first_timestep, *at[:1]) if first is not None]
    wrong = (before.train_mismatches or 0) + int(differs.any(0).sum())
    return replace(before, train_mismatches=wrong, first_timestep=min(firsts, default=None))


def _lasting(train: Tensor, timesteps: int) -> Tensor:
    return torch.cat([train, train.new_zeros((timesteps - len(train), *train.shape[1:]))])
