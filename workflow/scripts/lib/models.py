"""Data sets and networks as the stages hand them on: by files of earlier stages."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from pascal.data import Dataset, evaluation_batches, load_dataset, sample
from pascal.data.records import Batch, Split
from pascal.errors import PascalError
from pascal.graph import convert, get_levels
from pascal.networks import build_network
from pascal.neurons import QCFS
from pascal.training import read_tensors
from pascal.training.distributed import choose_device
from torch import nn

from .stage import read_json, reading

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


def new_network(params: Mapping[str, Any], about: Path, levels: Any) -> nn.Module:
    """A network of a run, with weights from torch's generator."""
    described = read_json(about)
    network = build_network(
        params["network"], len(described["classes"]), described["image_size"], levels, params["width"], params["pool"]
    )
    threshold = params.get("train", {}).get("threshold")
    for module in network.modules():
        if threshold is not None and isinstance(module, QCFS):
            module.threshold = threshold
    return network


def trained_network(params: Mapping[str, Any], about: Path, ann: Path) -> nn.Module:
    """A network of a run with its trained weights and levels, in evaluation mode, on the stage's device."""
    network = new_network(params, about, levels=1)
    network.load_state_dict(tensors_of(ann))
    return network.eval().to(choose_device(params.get("device", "cpu")))


def load_own_weights(network: nn.Module, path: Path, run: str) -> None:
    """Weights that a run names. They are nobody's to move or rename, and their levels must be the run's."""
    wanted = get_levels(network)
    try:
        network.load_state_dict(read_tensors(path))
    except RuntimeError as error:
        fault = " ".join(str(error).split())[:400]
        raise PascalError(f"{run}.weights: got {path}, expected weights of the run's network: {fault}") from error
    except PascalError as error:
        fault = str(error.__cause__ or error)
        raise PascalError(f"{run}.weights: got {path}, expected a whole safetensors file: {fault}") from error
    found = get_levels(network)
    if found != wanted:
        layer = next(layer for layer in wanted if found[layer] != wanted[layer])
        raise PascalError(
            f"{run}.levels: got {wanted[layer]}, expected {found[layer]}, with which {layer} of {path} was trained; "
            "a run that starts `from` this one takes others by adapt.levels"
        )


def tensors_of(path: Path) -> dict[str, Any]:
    """The tensors of an earlier stage's file; a damaged one is set aside."""
    with reading(path):
        return read_tensors(path)


def batches_of(params: Mapping[str, Any], dataset: Dataset, split: Split, batch_size: int = 256) -> Iterable[Batch]:
    """A split's images on the run's device."""
    device, workers = choose_device(params["device"]), params.get("train.workers", 0)
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


def spiking_network(ann: nn.Module, snn: Path) -> nn.Module:
    """The converted network with the very numbers of stage convert's file, in the ANN's arithmetic."""
    network = convert(ann, engine="steps")
    network.load_state_dict(tensors_of(snn))
    return network.eval()
