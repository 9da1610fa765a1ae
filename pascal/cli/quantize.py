"""`pascal quantize`."""

import argparse

from pascal.cli.models import open_ann
from pascal.cli.options import add_json, add_model, add_out
from pascal.cli.output import check_out, save_network, tell
from pascal.graph import get_levels


def add_options(parser: argparse.ArgumentParser) -> None:
    """A network of a library by name, or weights of one."""
    add_model(parser)
    parser.add_argument("--threshold", type=float, help="of every layer (default 8; pascal calibrate fits them)")
    add_out(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Save the quantised network."""
    check_out(options.out)
    ann = open_ann(options)
    layers = get_levels(ann)
    if options.threshold is not None:
        for path in layers:
            ann.get_submodule(path).threshold = options.threshold  # type: ignore[assignment]
    saved = save_network(ann, options.out)
    text = f"{options.out}: {len(layers)} layers of {options.levels} levels\nnext: pascal calibrate {options.out}"
    tell(options, {**saved, "levels": layers}, text)
    return 0
