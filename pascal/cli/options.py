"""Options that commands share."""

import argparse
from pathlib import Path

from pascal.data import DATASETS
from pascal.graph.convert import ENGINES
from pascal.networks.build import NETWORKS

_NAMES = ", ".join(sorted(NETWORKS))


def add_model(parser: argparse.ArgumentParser, what: str = "the network", needed: bool = True) -> None:
    """Which network, and how it is built where the file holds weights alone."""
    parser.add_argument(
        "model",
        nargs=None if needed else "?",
        help=f"{what}: a name ({_NAMES}, timm:…, torchvision:…), a file of weights (with --network), or a network that "
        "pascal saved",
    )
    group = parser.add_argument_group("network")
    group.add_argument("--network", metavar="NAME", help="the network that a file of weights belongs to")
    group.add_argument("--width", type=float, default=1.0, help="width multiplier of the paper's networks (default 1)")
    group.add_argument("--pool", choices=("max", "avg"), default="max", help="pooling of the paper's networks (max)")
    group.add_argument("--levels", type=int, default=8, help="levels of a network by name (default 8)")
    group.add_argument("--classes", type=int, help="outputs of a network by name (default: the data set's)")
    group.add_argument("--dtype", choices=("float32", "float64"), help="of the arithmetic (default: the network's own)")
    group.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, … (default cpu)")


def add_dataset(parser: argparse.ArgumentParser, images: int | None = None, what: str = "test") -> None:
    """Which images."""
    group = parser.add_argument_group("images")
    shown = "all" if images is None else str(images)
    group.add_argument("--dataset", default="cifar10", choices=sorted(DATASETS), help="whose images (default cifar10)")
    group.add_argument("--data", type=Path, metavar="FOLDER", help="where they are (default: PASCAL_DATA, or data/)")
    group.add_argument("--mean", type=float, nargs=3, help="of the pixels, if the network was trained with another")
    group.add_argument("--std", type=float, nargs=3, help="of the pixels, likewise")
    group.add_argument(
        "--images", type=int, default=images, help=f"how many {what} images, at random (default {shown})"
    )
    group.add_argument("--batch-size", type=int, default=100, help="images at a time (default 100)")


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Which spiking network."""
    group = parser.add_argument_group("spiking network")
    group.add_argument("--engine", choices=ENGINES, help="timestep by timestep (default), by counts, or in integers")
    group.add_argument(
        "--neuron", choices=("pasc", "if"), default="pasc", help="pasc is exact, if the plain one (pasc)"
    )
    group.add_argument("--timesteps", type=int, help="of plain IF")


def add_json(parser: argparse.ArgumentParser) -> None:
    """The result as JSON."""
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="print the result as JSON, or write it to FILE"
    )


def add_out(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Where the network goes."""
    parser.add_argument("--out", type=Path, required=required, metavar="FILE", help="where to save it (.safetensors)")
