"""`pascal cost`."""

import argparse

from pascal.accelerators.presets import PRESETS
from pascal.cli.models import batches, open_network
from pascal.cli.options import add_dataset, add_json, add_model
from pascal.cli.output import tell
from pascal.costing import cost


def add_options(parser: argparse.ArgumentParser) -> None:
    """Any network: ANN or SNN."""
    add_model(parser)
    add_dataset(parser, 100)
    parser.add_argument("--accelerator", choices=("loas", "sparten"), help="simulate it too, on the recorded spikes")
    parser.add_argument("--preset", choices=sorted(PRESETS), default="pascal40", help="its machine (default pascal40)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the record."""
    found = cost(open_network(options), batches(options, bar="cost"), options.accelerator, options.preset)
    tell(options, found.to_dict(), found)
    return 0
