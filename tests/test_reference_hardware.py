"""The tables of docs/hardware.md are made from the reference files, and its text says the same."""

from collections.abc import Iterator

import pytest

from benchmarks.publishing.hardware_page import (
    LAYERS,
    MACHINES,
    NARROW,
    PAGE,
    PRUNING,
    RATIOS,
    TABLES,
    TARGETS,
    updated,
)


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


def test_the_page_is_the_generated_one() -> None:
    page = PAGE.read_text()
    assert updated(page) == page, "run python -m benchmarks.publishing.hardware_page"
    assert all(f"<!-- hardware-{name} -->" in page for name in TABLES)
