"""`pascal simulate`."""

import argparse

from pascal.accelerators.presets import PRESETS
from pascal.cli.models import batches, open_snn
from pascal.cli.options import add_dataset, add_json, add_model
from pascal.cli.output import tell
from pascal.hardware import simulate
from pascal.recording import record
from pascal.text import si, text_table


def add_options(parser: argparse.ArgumentParser) -> None:
    """A network, a machine, a few images."""
    add_model(parser)
    add_dataset(parser, 8)
    parser.add_argument("--accelerator", choices=("loas", "sparten"), default="loas", help="the machine (default loas)")
    parser.add_argument("--preset", choices=sorted(PRESETS), default="pascal40", help="its size (default pascal40)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Record the spikes and simulate them."""
    snn = open_snn(options, "counts")
    neuron = snn.neuron if options.accelerator == "loas" else None
    found = simulate(record(snn, batches(options, bar="record")), options.accelerator, neuron, options.preset)
    told = found.summary()
    rows = [
        (row["path"], str(row["levels"]), si(row["cycles"]), f"{row['utilisation']:.1%}") for row in found.layer_rows()
    ]
    head = (
        f"{told['machine']} with {told['neuron']}, preset {told['preset']}, {told['images']} images: "
        f"{si(told['cycles'])} cycles, {told['latency_ms_per_image']:.3g} ms and {told['energy_uj_per_image']:.4g} µJ "
        f"per image, {told['energy_uj_per_image_without_dram']:.4g} µJ of them on chip"
    )
    tell(options, found.to_json(), "\n".join([head, "", *text_table(("layer", "levels", "cycles", "PEs busy"), rows)]))
    return 0
