"""`pascal plot`."""

import argparse
from pathlib import Path

from pascal import plot
from pascal.cli.models import batches, open_ann, open_network
from pascal.cli.options import add_dataset, add_json, add_model
from pascal.cli.output import tell
from pascal.costing import cost
from pascal.errors import PascalError

_OF_AN_ANN = ("levels", "metric", "equivalence")
_EXPLAINING = ("neuron", "qcfs")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which figure, of which network."""
    parser.add_argument("figure", choices=(*_OF_AN_ANN, "spikes", "energy", *_EXPLAINING), help="which figure")
    add_model(parser, needed=False)
    add_dataset(parser, 100)
    parser.add_argument(
        "--out", type=Path, metavar="STEM", help="where: STEM.png and STEM.pdf (default: the figure's name)"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Write the figure as PNG and PDF."""
    if options.model is None and options.figure not in _EXPLAINING:
        raise PascalError(f"model: got none, expected the network whose {options.figure} to draw")
    if options.figure in _EXPLAINING:
        figure = getattr(plot, options.figure)()
    elif options.figure == "energy":
        figure = plot.energy(cost(open_network(options), batches(options)))
    else:
        network = open_ann(options) if options.figure in _OF_AN_ANN else open_network(options)
        figure = getattr(plot, options.figure)(network, batches(options, bar=options.figure))
    files = [str(path) for path in plot.save(figure, options.out or options.figure)]
    tell(options, {"files": files}, "\n".join(files))
    return 0
