"""Which network wins depends on the assumptions; each row says on which."""

from pascal.energy import FP32, INT8, ann_energy, sensitivity, snn_energy, total_pj
from tests.energy.shapes import spiking


def test_every_combination_appears_once(measured_vgg):
    rows = sensitivity(measured_vgg, {"fp32": FP32, "int8": INT8})
    assert len({(row.costs, row.memory, row.skip_zeros, row.low_bits) for row in rows}) == len(rows) == 16


def test_rows_carry_the_model_s_energies(measured_vgg):
    (row,) = [r for r in sensitivity(measured_vgg, {"int8": INT8}) if r.memory and r.skip_zeros and not r.low_bits]
    assert row.ann_pj == total_pj(ann_energy(measured_vgg, INT8, skip_zeros=True, memory=True))
    assert row.snn_pj == total_pj(snn_energy(measured_vgg, INT8, memory=True))
    assert row.ratio == row.ann_pj / row.snn_pj


def test_zero_skipping_can_turn_the_winner(vgg):
    """Where one neuron in twenty fires, but often, an ANN that skips zeros does far less."""
    quiet = spiking(vgg, rate=2.0, silent=0.95)
    winner = {
        (row.memory, row.skip_zeros): row.winner for row in sensitivity(quiet, {"int8": INT8}) if not row.low_bits
    }
    assert winner == {(False, False): "SNN", (False, True): "ANN", (True, False): "ANN", (True, True): "ANN"}
