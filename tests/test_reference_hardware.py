"""The numbers of docs/hardware.md are those of the reference tables.

`python -m tests.test_reference_hardware` prints the rows that the page must hold.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
PAGE = ROOT / "docs" / "hardware.md"
_WORDS = 3  # bars in a row of the tables without numbers

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


ROWS = [*(row for preset in SHOWN for row in ratio_rows(preset)), *machine_rows(), *layer_rows(), *pruning_rows()]
ROWS += sensitivity_rows()


def sentences() -> Iterator[str]:
    """What the text says in numbers about the network, its images and its pruning."""
    images, whole, half = RATIOS.groupby("width").images.first(), PRUNING.iloc[0], PRUNING.iloc[1]
    weights = (LAYERS.weight_density * LAYERS.macs).sum() / LAYERS.macs.sum()
    yield f"{100 * whole.accuracy_as_pruned:.1f} % of {whole.test_images:,} test images"
    yield f"spikes of {images[NARROW]} of them"
    yield f"{images[1.0]} random images"
    yield f"INT8 weights: {100 * weights:.1f} % not zero"
    yield f"{whole.training_images:,} training images"
    yield f"spikes of {whole.images} test images"
    yield f"{100 * (whole.accuracy_as_pruned - half.accuracy):.1f} points of accuracy"
    yield f"{100 * (1 - half.pasc_uj / whole.pasc_uj):.0f} % of PASC's energy"


def explanations() -> Iterator[str]:
    """What it says about the differences from the paper."""
    ratio = RATIOS[RATIOS.preset == "pascal40"].set_index(["quantity", "width", "if_spikes"]).measured
    machine = MACHINES[MACHINES.overlap == "blocking"].set_index(["preset", "width", "neuron"])
    for width, scale in ((NARROW, "a quarter of the width"), (1.0, "full width")):
        energy = ratio["PASC / IF energy, on-chip dynamic", width, "as PASC"]
        latency = ratio["PASC / IF latency, blocking", width, "as PASC"]
        yield f"{100 * (energy - 1):.2f} % at {scale}"
        yield f"{100 * (latency - 1):.1f} % more cycles at {scale}"
    yield f"{100 * (1 - ratio['PASC / IF energy, on-chip dynamic', NARROW, 'own']):.1f} % less"
    for scope, phrase in (("PEs and neurons", "for PEs and neurons"), ("with DRAM", "with DRAM")):
        yield f"{ratio[f'ANN / SNN (PASC) energy, {scope}', NARROW, 'own']:.2f} {phrase}"
    logged = TARGETS.measured / TARGETS.expected - 1
    yield f"{-100 * logged['LoAS vgg16 FT cycles, loas32']:.1f} % fewer cycles than they report for VGG-16"
    yield f"{-100 * logged['LoAS resnet19 FT cycles, loas32']:.1f} % fewer for ResNet-19"
    yield f"{100 * logged['LoAS alexnet FT cycles, loas32']:.1f} % more for AlexNet"
    energies = TARGETS.measured[
        ["LoAS-FT energy gain over SparTen-SNN, vgg16", "SparTen-ANN over LoAS-FT energy, vgg16"]
    ]
    yield f"as {energies.iloc[0]:.2f} and {energies.iloc[1]:.2f} from their own counts"
    yield f"{100 * machine.loc[('loas32', NARROW, 'pasc')].utilisation:.0f} % of their cycles"
    paper, h1 = machine.loc[("pascal40", 1.0, "pasc")], machine.loc[("h1", 1.0, "pasc")]
    yield f"10,000 images take {paper.latency_s_per_10000:.0f} s"
    yield f"{h1.latency_s_per_10000:.2f} s and {h1.energy_mj_per_10000:,.0f} mJ at {100 * h1.joint_density:.1f} %"


@pytest.mark.parametrize("sentence", [*sentences(), *explanations()])
def test_the_text_says_what_the_tables_hold(sentence: str) -> None:
    assert sentence in " ".join(PAGE.read_text().split())


def test_the_recorded_targets_are_within_their_tolerance_or_explained() -> None:
    bounded = TARGETS[TARGETS.tolerance.notna()]
    assert len(bounded)
    assert ((bounded.measured - bounded.expected).abs() <= bounded.tolerance).all()
    assert TARGETS[TARGETS.expected.notna()].source.notna().all()
    assert TARGETS[TARGETS.measured.isna()].note.notna().all()


@pytest.mark.parametrize("row", ROWS)
def test_the_page_holds_every_row(row: str) -> None:
    assert row in PAGE.read_text()


def test_the_tables_hold_nothing_else() -> None:
    lines = PAGE.read_text().splitlines()
    headers = {above for above, line in pairwise(lines) if line.startswith("|---")}
    numbers = {line for line in lines if line.startswith("| ") and line.count("|") > _WORDS} - headers
    assert numbers == set(ROWS)


if __name__ == "__main__":
    print(*ROWS, *sentences(), *explanations(), sep="\n")
