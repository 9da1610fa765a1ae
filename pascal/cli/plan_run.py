"""`pascal plan-run`."""

import argparse
from pathlib import Path

from pascal.cli.options import add_json
from pascal.cli.output import tell
from pascal.errors import PascalError
from pascal.pipeline.estimate import estimate
from pascal.pipeline.parameters.file import load_params


def add_options(parser: argparse.ArgumentParser) -> None:
    """The file to plan, and where times were recorded."""
    parser.add_argument(
        "params", type=Path, nargs="?", default=Path("params.yaml"), help="a file (default params.yaml)"
    )
    parser.add_argument("--at-once", type=int, default=1, help="jobs at once: GPUs, or cores over threads (default 1)")
    parser.add_argument(
        "--recorded",
        type=Path,
        default=Path("params.yaml"),
        help="parameters of the runs that were timed (params.yaml)",
    )
    parser.add_argument("--times", type=Path, default=Path("logs/times"), help="their times (default logs/times)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print jobs, hours and memory of each stage."""
    if options.at_once < 1:
        raise PascalError(f"--at-once: got {options.at_once}, expected a whole number from 1")
    found = estimate(load_params(options.params), load_params(options.recorded), options.times, options.at_once)
    tell(options, found.to_json(), found)
    return 0
