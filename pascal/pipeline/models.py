"""Data sets and networks as the stages hand them on: by files of earlier stages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from torch import nn

from pascal.data import Dataset, evaluation_batches, load_dataset, sample
from pascal.data.records import Batch, Split
from pascal.errors import PascalError
from pascal.files import read_tensors
from pascal.networks import build_network
from pascal.neurons.levels import registered_layers
from pascal.pipeline.stage import read_json, reading
from pascal.training.distributed import choose_device

if TYPE_CHECKING:
    from pascal.pipeline.parameters.runs import Architecture
    from pascal.pipeline.parameters.stages import Showing

Path = str | PathLike[str]


def open_dataset(about: Path) -> Dataset:
    """The data set that stage prepare described, with the same images set aside."""
    described = read_json(about)
    dataset = load_dataset(
        described["name"],
        seed=described["seed"],
        validation=described["splits"]["validation"]["images"],
        mean=described["mean"],
        std=described["std"],
    )
    if dict(dataset.checksums) != described["checksums"]:
        raise PascalError(f"{about}: the images are not those that stage prepare saw; run it again")
    return dataset


def new_network(params: "Architecture", about: Path, levels: Any, threshold: float | None = None) -> nn.Module:
    """A network of a run, with weights from torch's generator."""
    described = read_json(about)
    network = build_network(
        params.network, len(described["classes"]), described["image_size"], levels, params.width, params.pool
    )
    if threshold is not None:
        for layer in registered_layers(network).values():
            layer.threshold = threshold
    return network


def load_own_weights(network: nn.Module, path: Path, run: str) -> None:
    """Weights that a run names. They are nobody's to move or rename, and their levels must be the run's."""
    wanted = levels_of(network)
    try:
        network.load_state_dict(read_tensors(path))
    except RuntimeError as error:
        fault = " ".join(str(error).split())[:400]
        raise PascalError(f"{run}.weights: got {path}, expected weights of the run's network: {fault}") from error
    except PascalError as error:
        fault = str(error.__cause__ or error)
        raise PascalError(f"{run}.weights: got {path}, expected a whole safetensors file: {fault}") from error
    found = levels_of(network)
    if found != wanted:
        layer = next(layer for layer in wanted if found[layer] != wanted[layer])
        raise PascalError(
            f"{run}.levels: got {wanted[layer]}, expected {found[layer]}, with which {layer} of {path} was trained; "
            "a run that starts `from` this one takes others by adapt.levels"
        )


def levels_of(network: nn.Module) -> dict[str, int]:
    """Levels by layer."""
    return {path: layer.levels for path, layer in registered_layers(network).items()}


def tensors_of(path: Path) -> dict[str, Any]:
    """The tensors of an earlier stage's file; a damaged one is set aside."""
    with reading(path):
        return read_tensors(path)


def batches_of(params: "Showing", dataset: Dataset, split: Split, batch_size: int = 256) -> Iterable[Batch]:
    """A split's images on the run's device."""
    device, workers = choose_device(params.device), params.train.workers
    return evaluation_batches(dataset, split, batch_size, device, workers=workers)


@dataclass(frozen=True)
class Doubles:
    """Batches in float64, in which SNN and ANN agree on every image."""

    batches: Iterable[Batch]

    def __iter__(self) -> Iterator[Batch]:
        for images, labels in self.batches:
            yield images.double(), labels


def at_most(split: Split, images: int | None, seed: int = 0) -> Split:
    """A random choice of a split, or all of it where that is fewer."""
    return split if images is None or images >= len(split) else sample(split, images, seed)
