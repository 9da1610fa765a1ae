"""The tables of docs/hardware.md from the reference files, so that page and files cannot differ.

`python -m benchmarks.publishing.hardware_page` writes each between its marks; what the text says in numbers is checked
by tests/test_reference_hardware.py.
"""

from collections.abc import Callable, Iterator
from functools import partial

import pandas as pd

from benchmarks.publishing.pages import with_section
from benchmarks.publishing.reference import ROOT

REFERENCE = ROOT / "results" / "reference"
PAGE = ROOT / "docs" / "hardware.md"

RATIOS, MACHINES, LAYERS, PRUNING = (
    pd.read_csv(REFERENCE / f"hardware_{name}.csv", keep_default_na=False)
    for name in ("trained", "trained_machines", "trained_layers", "pruning")
)
SENSITIVITY = pd.read_csv(ROOT / "benchmarks" / "studies" / "hardware_sensitivity.csv")
TARGETS = pd.read_csv(ROOT / "benchmarks" / "studies" / "hardware_targets.csv").set_index("target")
DOUBTS = ("dram_bit_pj", "cell", "act_bits", "profile", "pes", "weight_density")
NARROW = RATIOS.width.min()
COLUMNS = [(NARROW, "own"), (NARROW, "as PASC"), (1.0, "own"), (1.0, "as PASC")]
SHOWN = {"pascal40": RATIOS.quantity.unique(), "loas32": RATIOS.quantity.unique()}
SHOWN["h1"] = [
    name for name in RATIOS.quantity.unique() if "energy" not in name or "PEs" in name
]  # no memory, no leakage


def ratio_rows(preset: str) -> Iterator[str]:
    """Quantity, the paper's ratio, ours with recorded spikes and an interval, ours at full width."""
    table = RATIOS[RATIOS.preset == preset].set_index(["quantity", "width", "if_spikes"])
    for quantity in SHOWN[preset]:
        digits = 4 if quantity.startswith("PASC / IF energy") else 3
        cells = [f"{table.reported[quantity].iloc[0]:.{digits}f}"]
        for width, spikes in COLUMNS:
            row = table.loc[(quantity, width, spikes)]
            interval = f" ({row.low:.{digits}f}–{row.high:.{digits}f})" if width == NARROW else ""
            cells.append(f"{row.measured:.{digits}f}{interval}")
        yield _line(quantity, *cells)


def machine_rows() -> Iterator[str]:
    """Preset, width, machine, density, then per image and per 10,000 images."""
    for row in MACHINES[(MACHINES.if_spikes != "as PASC") & (MACHINES.preset != "loas32")].itertuples():
        yield _line(
            f"{row.preset}, {row.pes} PEs, memory {'on' if row.memory else 'off'}",
            f"{row.width:g}",
            f"{row.machine}, {row.neuron}, {row.overlap}",
            f"{100 * row.joint_density:.1f} %",
            f"{row.latency_ms_per_image:.4g}",
            f"{row.energy_uj_per_image_without_dram:,.1f}",
            f"{row.energy_uj_per_image:,.1f}",
            f"{row.latency_s_per_10000:.2f}",
            f"{row.energy_mj_per_10000:,.0f}",
        )


def layer_rows() -> Iterator[str]:
    """Path, then shares of weights and of inputs that are not zero."""
    for row in LAYERS[LAYERS.pasc_density != ""].itertuples():
        shares = (f"{100 * float(share):.1f}" for share in (row.weight_density, row.pasc_density, row.if_density))
        yield _line(f"`{row.path}`", *shares, f"{float(row.pasc_spikes):.2f}", f"{float(row.if_spikes):.2f}")


def pruning_rows() -> Iterator[str]:
    """Share of weights kept, accuracies, µJ and ms of the machines, ratios."""
    for row in PRUNING.itertuples():
        accuracies = (row.accuracy_as_pruned, row.accuracy, row.if_accuracy)
        ratios = (row.pasc_over_if_latency_blocking, row.pasc_over_if_latency_pipelined, row.ann_over_snn_with_dram)
        yield _line(
            f"{row.weight_density:g}",
            *(f"{100 * accuracy:.1f}" for accuracy in accuracies),
            *(f"{energy_uj:.1f}" for energy_uj in (row.pasc_uj, row.if_uj, row.ann_uj)),
            *(f"{latency_ms:.3f}" for latency_ms in (row.pasc_ms, row.if_ms, row.ann_ms)),
            *(f"{ratio:.3f}" for ratio in ratios),
        )


def sensitivity_rows() -> Iterator[str]:
    """Parameter, value, ANN over SNN in three scopes, matches per MAC."""
    for row in SENSITIVITY[SENSITIVITY.parameter.isin(DOUBTS)].itertuples():
        scopes = (row.ann_over_snn_compute, row.ann_over_snn_on_chip, row.ann_over_snn_with_dram)
        density = f"{100 * row.joint_density:.1f} %"
        yield _line(f"`{row.parameter}`", row.value, *(f"{ratio:.2f}" for ratio in scopes), density)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


# What stands above the columns of each table, and the rows below.
_RATIOS = "ratio | paper | width 0.25, own spikes | width 0.25, the same spikes | width 1, own | width 1, same"
TABLES: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    **{preset: (_RATIOS, partial(ratio_rows, preset)) for preset in SHOWN},
    "machines": (
        "preset | width | machine | matches per MAC | ms per image | µJ without DRAM | "
        "µJ per image | s per 10,000 | mJ per 10,000",
        machine_rows,
    ),
    "layers": (
        "layer | weights | PASC | plain IF | spikes, PASC | spikes, plain IF",
        layer_rows,
    ),
    "pruning": (
        "weights kept | % as pruned | % PASC = ANN | % plain IF, T = 4 | µJ PASC | µJ IF | "
        "µJ ANN | ms PASC | ms IF | ms ANN | PASC / IF latency, blocking | pipelined | "
        "ANN / SNN energy",
        pruning_rows,
    ),
    "sensitivity": (
        "parameter | value | PEs and neurons | on-chip with leakage | with DRAM | matches per MAC",
        sensitivity_rows,
    ),
}


def main() -> None:
    """Bring the page up to date."""
    PAGE.write_text(updated(PAGE.read_text()))


def updated(page: str) -> str:
    """The page with every table as the files have it."""
    for name, (header, rows) in TABLES.items():
        line = "|" + "---|" * (header.count("|") + 1)
        page = with_section(page, f"hardware-{name}", "\n".join([f"| {header} |", line, *rows()]) + "\n")
    return page


if __name__ == "__main__":
    main()
