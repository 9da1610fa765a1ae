"""`pascal inspect`."""

import argparse

import torch

from pascal.cli.models import open_ann
from pascal.cli.options import add_json, add_model
from pascal.cli.output import tell
from pascal.graph import inspect
from pascal.networks.library import LIBRARIES, library_model


def add_options(parser: argparse.ArgumentParser) -> None:
    """Also of networks that do not convert."""
    add_model(parser)
    parser.add_argument("--image-size", type=int, help="pixels per side (default: what the network is known to take)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """0 if the network converts, 1 if not."""
    if options.model.partition(":")[0] in LIBRARIES:  # as it is, so that what does not convert can be told
        network = library_model(options.model, options.classes or 1000)
    else:
        network = open_ann(options, fresh=True)
    size = options.image_size or (224 if options.model.startswith("torchvision:") else None)
    found = inspect(network, torch.randn(2, 3, size, size) if size else None)
    tell(options, found.to_dict(), found)
    return 0 if found.converts else 1
