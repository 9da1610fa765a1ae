"""`pascal plan`."""

import argparse

from pascal.cli.models import batches, open_ann
from pascal.cli.options import add_dataset, add_json, add_model, add_out
from pascal.cli.output import check_out, save_network, tell
from pascal.planning import plan_levels


def add_options(parser: argparse.ArgumentParser) -> None:
    """Training images, and a budget."""
    add_model(parser, "the calibrated or trained network")
    add_dataset(parser, 512, "training")
    parser.add_argument("--budget", required=True, help="of the cost: a number, or a share such as 60%%")
    parser.add_argument("--cost", default="timesteps", help="what to spend less of (default timesteps)")
    parser.add_argument("--values", type=int, nargs="+", default=[8, 4, 2, 1], help="levels to choose from (8 4 2 1)")
    parser.add_argument("--score", default="kl", help="how a layer's loss is told (default kl)")
    add_out(parser, required=False)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the plan, and save the network with its levels."""
    check_out(options.out)
    ann = open_ann(options)
    images = list(batches(options, "train"))
    found = plan_levels(
        ann, images, _number(options.budget), options.cost, options.values, score=options.score, bar=True
    )
    saved = save_network(found.ann, options.out) if options.out else {}
    tell(options, {**found.to_json(), **saved}, f"{found}\nsaved: {options.out}" if options.out else found)
    return 0


def _number(budget: str) -> float | str:
    try:
        return float(budget)
    except ValueError:
        return budget
