"""Figures of others, and of a first prototype, that the model must meet on VGG-16 with random masks; nothing is tuned.

Sources: the paper's appendix "Hardware Quantification"; LoAS's logs, scripts and Table II (`hardware_loas.py` says
where); and a prototype of this model, separate code that was written first: it shows a change, it proves no hardware.
"""

import pytest

from benchmarks.networks import vgg16_workloads
from benchmarks.studies import hardware_loas as loas
from pascal.accelerators.paper import PRINTED
from pascal.hardware import simulate
from pascal.hardware.simulate import make_variant, simulate_variants
from pascal.hardware.sources import make_source


@pytest.mark.parametrize(
    ("activations", "weights", "matches", "base_cycles", "blocking", "pipelined"),
    [  # the prototype: VGG-16, 16 PEs, profile nf, Bernoulli masks, against a blocking 1-cycle plain IF; PASC takes 11
        (0.25, 1.00, 84.5e6, 5.97e6, 1.030, 0.997),
        (0.24, 0.24, 19.5e6, 1.91e6, 1.093, 0.993),
        (0.25, 0.05, 4.2e6, 0.88e6, 1.202, 1.008),
    ],
)
def test_latency_ratios_of_random_masks(
    activations: float, weights: float, matches: float, base_cycles: float, blocking: float, pipelined: float
) -> None:
    block = {"image_timesteps": "levels", "memory": False}
    variants = [
        make_variant("loas", "if", block),
        make_variant("loas", "pasc", block),
        make_variant("loas", "pasc", {**block, "overlap": "pipelined"}),
    ]
    source = make_source(vgg16_workloads(activations), 1, weights, seed=0)
    base, serial, hidden = (run.summary() for run in simulate_variants(source, variants))
    assert base["match"] == pytest.approx(matches, rel=0.005)
    assert base["cycles"] == pytest.approx(base_cycles, rel=0.01)
    assert serial["cycles"] / base["cycles"] == pytest.approx(blocking, abs=0.02)
    assert hidden["cycles"] / base["cycles"] == pytest.approx(pipelined, abs=0.02)


def test_hypothesis_h1_predicts_the_papers_latencies() -> None:
    # the matches that the paper's ANN energy over 10,000 images implies at 19.66 pJ (11.010 mW / 560 MHz) each
    matches = float(PRINTED["ANN energy mJ"]) * 1e-3 / 19.66e-12 / 1e4
    workloads = vgg16_workloads(0.24)
    spiking = sum(workload.nonzero_macs or 0 for workload in workloads)
    density = matches / (spiking + workloads[0].macs)
    plain, pasc = (simulate(workloads, "loas", neuron, "h1", weight_density=density) for neuron in ("if", "pasc"))
    assert plain.mean("match") == pytest.approx(matches, rel=0.005)
    for run, name in ((plain, "IF"), (pasc, "PASC")):  # printed with two digits
        assert run.latency_s * 1e4 == pytest.approx(float(PRINTED[f"{name} latency s"]), rel=0.02)


def test_energy_by_component_is_near_the_prototypes() -> None:
    # the prototype, per image at 0.25 × 1.0, µJ: PEs 505 and 875, leakage 810 and 881
    source = make_source(vgg16_workloads(0.25), 1, 1.0, seed=0)
    loas, sparten = simulate_variants(source, [make_variant("loas", "if"), make_variant("sparten", "qcfs")])
    assert loas.mean("pe_pj") * 1e-6 == pytest.approx(505, rel=0.05)
    assert sparten.mean("pe_pj") * 1e-6 == pytest.approx(875, rel=0.05)
    assert loas.mean("static_pj") * 1e-6 == pytest.approx(810, rel=0.05)
    assert sparten.mean("static_pj") * 1e-6 == pytest.approx(881, rel=0.05)


def test_pasc_adds_little_energy_on_chip() -> None:
    # the prototype: 1.0003 to 1.0035 for dense to sparse weights; the paper: 446.02 mJ / 445.47 mJ = 1.0012
    for density in (1.0, 0.24):
        source = make_source(vgg16_workloads(0.24)[1:], 1, density, seed=0)
        plain, pasc = simulate_variants(source, [make_variant("loas", "if"), make_variant("loas", "pasc")])
        on_chip = ("pe", "neuron", "sram")
        assert 1.0003 <= pasc.energy_pj(on_chip).sum() / plain.energy_pj(on_chip).sum() <= 1.0035


@pytest.mark.parametrize(
    ("network", "cycles", "matches", "silent", "zeros"),
    [  # LoAS's logs and its Table II, fine-tuned networks
        ("vgg16", 481_560, 5_187_330, 79.581, 98.2279),
        ("resnet19", 1_321_906, 16_201_484, 66.0811, 96.914),
        ("alexnet", 41_259, 393_769, 76.6834, 98.2635),
    ],
)
def test_loas_as_published(network: str, cycles: int, matches: int, silent: float, zeros: float) -> None:
    assert loas.zero_shares(network) == pytest.approx((silent, zeros), abs=5e-5)
    runs = list(loas.drawn_layers(network))
    assert sum(run.mean("compute_cycles") for run in runs) == pytest.approx(cycles, rel=0.1)
    assert sum(run.mean("match") for run in runs) == pytest.approx(matches, rel=0.1)


def test_sparten_as_published() -> None:
    runs = loas.drawn_layers("vgg16", "sparten")  # one of four timesteps
    assert 4 * sum(run.mean("compute_cycles") for run in runs) == pytest.approx(2_415_640, rel=0.3)


def test_the_script_s_constants_give_its_energies_from_its_counts() -> None:
    snn = loas.script_energy("loas", loas.LOAS_FT)
    assert loas.script_energy("sparten", loas.SPARTEN_SNN, match_pj=6.15) / snn == pytest.approx(3.17, rel=0.05)
    assert loas.script_energy("sparten", loas.SPARTEN_ANN) / snn == pytest.approx(2.47, rel=0.15)
