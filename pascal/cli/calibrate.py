"""`pascal calibrate`."""

import argparse

from pascal.calibration import calibrate
from pascal.calibration.bounds import METHODS
from pascal.cli.models import batches, open_ann
from pascal.cli.options import add_dataset, add_json, add_model, add_out
from pascal.cli.output import check_out, save_network, tell


def add_options(parser: argparse.ArgumentParser) -> None:
    """Training images, without labels."""
    add_model(parser, "the quantised network")
    add_dataset(parser, 512, "training")
    parser.add_argument("--method", choices=(*METHODS, "auto"), default="ridge", help="how (default ridge)")
    add_out(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Save the calibrated copy."""
    check_out(options.out)
    ann = open_ann(options)
    found = calibrate(ann, batches(options, "train"), options.method, bar=True)
    saved = save_network(found.ann, options.out)
    layers = [vars(layer) for layer in found.layers]
    told = {**saved, "method": found.method, "images": found.images, "layers": layers, "tried": dict(found.tried)}
    tell(options, told, f"{found}\nsaved: {options.out}\nnext: pascal verify {options.out}")
    return 0
