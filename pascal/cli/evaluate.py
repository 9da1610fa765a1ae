"""`pascal evaluate`."""

import argparse

from pascal.cli.models import batches, open_network
from pascal.cli.options import add_dataset, add_json, add_model
from pascal.cli.output import tell
from pascal.training import evaluate


def add_options(parser: argparse.ArgumentParser) -> None:
    """Any network: ANN or SNN."""
    add_model(parser)
    add_dataset(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Say how many test images are classified correctly."""
    found = evaluate(open_network(options), batches(options, bar="evaluate"))
    record = {"images": found.images, "correct": found.correct, "accuracy": found.accuracy, "dataset": options.dataset}
    tell(options, record, f"{found.accuracy:.2%}: {found.correct:,} of {found.images:,} {options.dataset} test images")
    return 0
