"""`pascal convert`."""

import argparse

from pascal.cli.models import open_ann
from pascal.cli.options import add_engine, add_json, add_model, add_out
from pascal.cli.output import check_out, save_network, tell
from pascal.graph import convert


def add_options(parser: argparse.ArgumentParser) -> None:
    """A trained network."""
    add_model(parser, "the trained network")
    add_engine(parser)
    add_out(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Save the spiking network."""
    check_out(options.out)
    snn = convert(open_ann(options), options.engine or "steps", options.neuron, options.timesteps)
    saved = save_network(snn, options.out)
    total = sum(snn.levels.values())
    text = f"{options.out}: {len(snn.levels)} layers of {snn.neuron.upper()} neurons, {total} timesteps end to end"
    tell(options, {**saved, "levels": snn.levels, "neuron": snn.neuron}, f"{text}\nnext: pascal evaluate {options.out}")
    return 0
