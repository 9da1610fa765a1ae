"""Event energies add up to what the sources charge, leakage is power × time, operations cost what the paper says."""

import pytest

from pascal.accelerators.prices import PRICE_SETS, Prices
from pascal.energy import FP32, INT8, EnergyCosts
from pascal.hardware import accelerator_from_params
from pascal.hardware.energy import EVENTS, dynamic_pj, static_pj

_TPPE = {
    "pseudo_add": 1,
    "correction_add": 4,
    "fast_prefix_sum": 1,
    "laggy_prefix_sum": 1,
    "fifo_entry": 1,
    "buffer_read": 1,
    "bitmask_load": 2,
}
_SPARTEN_SNN = {"fast_prefix_sum": 2, "buffer_read": 1, "accumulate": 1}
_SPARTEN_ANN = _SPARTEN_SNN | {"multiply": 1, "bitmask_load": 2}


@pytest.mark.parametrize(
    ("events", "flat_pj"),
    [(_TPPE, 5.80), (_SPARTEN_SNN, 6.15), (_SPARTEN_ANN, 7.95)],  # LoAS's own scripts, per match
)
def test_events_charged_per_match_add_up_to_the_flat_figures(events: dict[str, float], flat_pj: float) -> None:
    assert dynamic_pj(events, PRICE_SETS["synthesis32"])["pe"] == pytest.approx(flat_pj, abs=0.02)


def test_every_price_is_charged_by_some_event() -> None:
    charged = {price for _, price in EVENTS.values()}
    assert charged == {name for name in Prices.__dataclass_fields__ if name.endswith("_pj")}


def test_components_are_kept_apart() -> None:
    prices = Prices(match_pj=1, membrane_update_pj=10, sram_read_byte_pj=100, dram_bit_pj=1000)
    energy = dynamic_pj({"match": 2, "membrane_update": 3, "sram_read_byte": 4, "dram_bit": 5}, prices)
    assert energy == {"pe": 2, "neuron": 30, "sram": 400, "dram": 5000}


def test_leakage_is_power_times_time() -> None:
    # 16 × 0.50 mW + 67.7 mW + 16 unrolled IF units × 0.034 mW, over 5.6e6 cycles at 560 MHz = 10 ms
    accelerator = accelerator_from_params("pascal40")
    expected_mw = 16 * (0.50 + 0.034) + 67.7
    assert static_pj(accelerator, "if", 5.6e6) == pytest.approx(expected_mw * 1e-3 * 10e-3 * 1e12)


def test_larger_neuron_units_leak_more() -> None:
    blocks = [{"pasc_unit": unit} for unit in ("serial", "flat")]
    serial, flat = (static_pj(accelerator_from_params(block), "pasc", 1e6) for block in blocks)
    assert serial < flat


@pytest.mark.parametrize(("name", "costs"), [("horowitz45_fp32", FP32), ("horowitz45", INT8)])
def test_operation_counting_charges_what_the_energy_model_does(name: str, costs: EnergyCosts) -> None:
    prices = PRICE_SETS[name]
    assert (prices.dense_mac_pj, prices.spike_add_pj) == pytest.approx((costs.mac_pj(), costs.add_pj))
