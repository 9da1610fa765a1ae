"""`train`: Section 4 and the appendix's training configurations."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pascal.pipeline.parameters.base import Count, Few, Fraction, Part, Positive

if TYPE_CHECKING:
    from pascal.pipeline.parameters.runs import Params, Run


class Augmentation(Part):
    """how training images are varied"""

    crop: int = Field(4, ge=0, le=4096, description="pixels of padding before the random crop")
    flip: bool = Field(True, description="left and right exchanged in every second image")
    autoaugment: bool = Field(False, description="the published policies for CIFAR and ImageNet")
    cutout: int = Field(0, ge=0, le=4096, description="side of the square cut out, in pixels")


class Loading(Part):
    """how images are read"""

    workers: int = Field(0, ge=0, le=4096, description="processes that read images")


class Train(Loading):
    """how a network is trained"""

    epochs: int = Field(ge=0, le=1_000_000, description="0 for a run with weights alone")
    batch_size: Count
    learning_rate: float = Field(gt=0, le=1000)
    decay: Literal["cosine", "linear"] = Field("cosine", description="how the learning rate falls to zero")
    momentum: Fraction = 0.9
    nesterov: bool = Field(False, description="Nesterov's momentum")
    weight_decay: Fraction = 5e-4
    threshold: Positive = Field(8.0, description="where thresholds start")
    decay_norms: bool = Field(True, description="whether weight decay holds for batch norms and biases too")
    decay_thresholds: bool = Field(True, description="whether weight decay holds for thresholds too")
    threshold_limit: float = Field(1e4, gt=1, le=1e30, description="beyond it, or below its inverse, training stops")
    warmup_epochs: int = Field(0, ge=0, le=1_000_000, description="in which the learning rate rises")
    label_smoothing: Fraction = 0.0
    average: Fraction = Field(0.0, description="what a step keeps of the weights' moving average; 0: no average")
    mixed_precision: bool = Field(False, description="products in bfloat16")
    channels_last: bool = Field(True, description="the memory format that is faster on most machines")
    compile: bool = Field(False, description="by torch.compile")
    selection: Literal["last", "best"] = Field("last", description="which epoch; best by the validation images")
    checkpoint_steps: Count = Field(500, description="steps from one checkpoint to the next")
    processes: Few = Field(1, description="processes that train together on this machine")
    augmentation: Augmentation = Augmentation.model_validate({})


def faults(run: "Run", params: "Params") -> Iterator[str]:
    """What one key alone does not show."""
    where, settings = f"runs.{run.name}", run.settings
    train = settings.train
    if train.epochs and train.warmup_epochs >= train.epochs:
        got = f"got {train.warmup_epochs}, expected fewer than the {train.epochs} epochs"
        yield f"{where}.train.warmup_epochs: {got}"
    if train.batch_size % train.processes:
        got = f"got {train.batch_size}, expected a multiple of the {train.processes} processes that share a batch"
        yield f"{where}.train.batch_size: {got}"
    if train.epochs == 0 and settings.weights is None and not run.start:
        yield f"{where}.train.epochs: got 0, expected at least 1, or weights trained elsewhere"
    if train.nesterov and not train.momentum:
        yield f"{where}.train.nesterov: got true with momentum 0, expected a momentum to look ahead with"
    data = params.datasets.get(settings.dataset)
    if train.epochs and train.selection == "best" and data and data.validation == 0:
        got = f"got 'best', expected 'last', or images to choose by: datasets.{settings.dataset}.validation is 0"
        yield f"{where}.train.selection: {got}"
