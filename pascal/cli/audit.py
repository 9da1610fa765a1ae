"""`pascal audit`."""

import argparse
from pathlib import Path

import pandas as pd

from pascal.audit import audit_rows, measured_records
from pascal.audit.networks import audit_networks
from pascal.cli.options import add_json
from pascal.cli.output import tell
from pascal.energy import layer_table


def add_options(parser: argparse.ArgumentParser) -> None:
    """No network: the paper's."""
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to this file")
    parser.add_argument("--layers", type=Path, metavar="FOLDER", help="write the appendix's layer tables there, as CSV")
    parser.add_argument(
        "--measured", type=Path, metavar="FOLDER", default=Path("results/reference"),
        help="records of runs to stand beside the paper's accuracies (default: results/reference, if it is there)",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Every number of the paper beside its equation, from the layer shapes of the networks themselves."""
    networks = audit_networks()
    rows = pd.DataFrame(audit_rows(networks, measured_records(options.measured)))
    if options.layers:
        options.layers.mkdir(parents=True, exist_ok=True)
        for name, layers in networks.items():
            pd.DataFrame(layer_table(layers)).to_csv(options.layers / f"{name}.csv", index=False)
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        rows.to_csv(options.csv, index=False)
    with pd.option_context("display.max_rows", None, "display.max_colwidth", 40, "display.width", 240):
        tell(options, rows.to_json(orient="records", indent=1), rows.fillna("").to_string(index=False))
    return 0
