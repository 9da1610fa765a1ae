"""From the words of a command to a network and its images; files are looked for before anything is downloaded."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

from pascal.calibration import load_weights
from pascal.data import DATASETS, Dataset, evaluation_batches, load_dataset, sample
from pascal.errors import PascalError
from pascal.graph import SpikingNetwork, convert, load
from pascal.graph.saving import is_saved
from pascal.networks import build_network

_CLASSES = {"digits": 10, "cifar10": 10, "cifar100": 100, "imagenet": 1000}
_FILES = (".safetensors", ".pth", ".pt", ".bin", ".ckpt")


def open_network(options: argparse.Namespace, fresh: bool = False) -> Any:
    """The ANN or SNN that a command names, in evaluation mode; `fresh` weights are worth a word unless expected."""
    network = _opened(options, fresh).eval()
    if options.dtype and not isinstance(network, SpikingNetwork):
        network = network.to(getattr(torch, options.dtype))
    try:
        return network.to(options.device)
    except (RuntimeError, AssertionError) as error:
        raise PascalError(f"device: got {options.device!r}: {str(error).splitlines()[0]}") from error


def open_ann(options: argparse.Namespace, fresh: bool = False) -> nn.Module:
    """A network with QCFS activations, not yet spiking."""
    network = open_network(options, fresh)
    if isinstance(network, SpikingNetwork):
        raise PascalError(f"{options.model}: is a spiking network already, expected the ANN that it was made from")
    return network


def open_snn(options: argparse.Namespace, engine: str = "steps") -> SpikingNetwork:
    """A spiking network: as saved, or converted."""
    network = open_network(options)
    if isinstance(network, SpikingNetwork):
        return network
    chosen = getattr(options, "engine", None) or engine
    neuron, timesteps = getattr(options, "neuron", "pasc"), getattr(options, "timesteps", None)
    return convert(network, engine="steps" if neuron == "if" else chosen, neuron=neuron, timesteps=timesteps)


def _opened(options: argparse.Namespace, fresh: bool) -> nn.Module:
    path = Path(options.model)
    if path.is_file() and is_saved(path):
        return load(path)
    if path.is_file() or path.suffix in _FILES or "/" in options.model:
        return _with_weights(options, path)
    if options.network not in (None, options.model):
        raise PascalError(f"--network: got {options.network} beside {options.model}; it is for files of weights")
    network = _built(options, options.model)
    if not fresh:
        print(f"pascal: {options.model} has fresh weights; give a file for trained ones", file=sys.stderr)
    return network


def _with_weights(options: argparse.Namespace, path: Path) -> nn.Module:
    if not path.is_file():
        raise PascalError(f"{path}: there is no such file, expected a network or its weights; check the path")
    if options.network is None:
        raise PascalError(f"{path}: is no network that pascal saved; if it holds weights, say whose by --network NAME")
    network = _built(options, options.network)
    load_weights(network, path)
    return network


def _built(options: argparse.Namespace, name: str) -> nn.Module:
    dataset = getattr(options, "dataset", "cifar10")
    classes = options.classes if options.classes is not None else _CLASSES[dataset]
    size = DATASETS[dataset].image_size
    return build_network(name, classes, size, levels=options.levels, width=options.width, pool=options.pool)


def open_dataset(options: argparse.Namespace) -> Dataset:
    """The data set, with the normalisation that was asked for."""
    return load_dataset(options.dataset, options.data, mean=options.mean, std=options.std)


def batches(options: argparse.Namespace, split: str = "test", bar: str = "") -> Iterable[Any]:
    """The images of a command, behind a progress bar on a terminal."""
    dataset = open_dataset(options)
    images = getattr(dataset, split)
    chosen = images if options.images is None else sample(images, options.images)
    shown = evaluation_batches(dataset, chosen, options.batch_size)
    return tqdm(list(shown), bar or split, unit="batch", leave=False, disable=None)
