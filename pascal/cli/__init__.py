"""`pascal inspect | quantize | … | plot`: the one part of the package that knows paths, and the only one that prints.

One file per command, found by its name; a command is imported when it is given, so that `--help` is quick.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import NoReturn

from pascal.errors import PascalError

COMMANDS = {
    "inspect": "what of a network becomes spikes, what does not, and what to do about it",
    "quantize": "replace every ReLU by a QCFS and save the network",
    "calibrate": "fit thresholds and weights to images, without labels and without training",
    "plan": "choose the levels of every layer within a budget",
    "convert": "make the spiking network and save it",
    "verify": "compare a network with its SNN, neuron by neuron",
    "evaluate": "accuracy on test images",
    "cost": "operations, timesteps and energy of one image",
    "simulate": "cycles and joules on an accelerator, from recorded spikes",
    "plan-run": "jobs, hours and memory of a parameter file, from recorded times",
    "audit": "the paper's numbers beside what its equations give",
    "plot": "a figure of a network: levels, metric, spikes, equivalence, energy, neuron, qcfs",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all is well, 1 if the answer is no (not equal, does not convert), 2 for bad input."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = _parser(given).parse_args(given)
        return options.run(options)
    except BrokenPipeError:  # `pascal … | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (PascalError, OSError) as error:
        print(f"pascal: {_short(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("pascal: interrupted", file=sys.stderr)
        return 130
    except SystemExit as end:  # of argparse: 0 after --help, 2 after bad arguments
        return end.code if isinstance(end.code, int) else 2


def _short(message: str) -> str:
    """The first lines of a long list."""
    lines = message.splitlines()
    return message if len(lines) <= 4 else "\n".join([*lines[:3], f"  … and {len(lines) - 3} more: pascal inspect"])


class _Parser(argparse.ArgumentParser):
    """Says what is wrong without the usage of all options."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser(given: list[str]) -> argparse.ArgumentParser:
    """All commands by name, the given one with its options."""
    parser = _Parser(
        prog="pascal",
        description="Exact conversion of trained networks into spiking ones, with a certificate.",
        epilog="pascal inspect --help explains inspect, and so on. Exit codes: 0 well, 1 a no, 2 bad input.",
    )
    parser.add_argument("--version", action="version", version=f"pascal {version('pascal-snn')}")
    commands = parser.add_subparsers(metavar="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        if name in given[:1]:
            module = import_module(f"pascal.cli.{name.replace('-', '_')}")
            module.add_options(command)
            command.set_defaults(run=module.run)
    return parser
