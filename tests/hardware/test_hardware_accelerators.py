"""Presets, users' blocks of parameters, and what they refuse."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from pascal.accelerators.presets import PRESETS
from pascal.accelerators.prices import CACTI, PRICE_SETS
from pascal.errors import PascalError
from pascal.hardware import accelerator_from_params


@pytest.mark.parametrize("machine", ["loas", "sparten"])
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_valid_frozen_record(name: str, machine: str) -> None:
    accelerator = accelerator_from_params(name, machine)
    assert (accelerator.name, accelerator.machine) == (name, machine)
    with pytest.raises(FrozenInstanceError):
        accelerator.pes = 1  # type: ignore[misc]


def test_design_points_of_the_specification() -> None:
    default = accelerator_from_params("pascal40")
    assert (default.node_nm, default.clock_mhz, default.pes, default.chunk) == (40, 560.0, 16, 128)
    assert default.dram_bytes_per_cycle == pytest.approx(228.6, abs=0.05)  # 128 GB/s / 560 MHz
    h1 = accelerator_from_params("h1", "sparten")
    assert (h1.pes, h1.memory, h1.overlap) == (1024, False, "blocking")
    assert h1.prices.match_pj == pytest.approx(11.010 / 560 * 1e3, abs=0.005)  # 11.010 mW × one cycle
    loas32 = accelerator_from_params("loas32")
    assert (loas32.clock_mhz, loas32.profile, loas32.schedule, loas32.timesteps) == (800.0, "ideal", "barrier", 4)


def test_cacti_figures_of_the_cache() -> None:
    # CACTI 7, 256 KB, 32 nm, as in the LoAS history: 64.8472 / 71.2 pJ per 32 B, 7.77766 mW per bank, 16 banks
    assert CACTI[32, "lop"] == (64.8472, 71.2, pytest.approx(16 * 7.77766))
    prices = accelerator_from_params("loas32").prices
    assert prices.sram_read_byte_pj * 32 == pytest.approx(64.8472)
    assert prices.cache_leakage_mw == pytest.approx(124.4, abs=0.05)
    # 40 nm: 3.1 / 3.4 pJ per byte, 67.7 mW
    prices = accelerator_from_params("pascal40").prices
    assert round(prices.sram_read_byte_pj, 1) == 3.1
    assert round(prices.sram_write_byte_pj, 1) == 3.4
    assert prices.cache_leakage_mw == 67.7


def test_a_block_changes_its_base_and_the_machine_part_wins_within_a_block() -> None:
    block = {
        "base": "h1",
        "name": "mine",
        "pes": 64,
        "dram_bit_pj": 12.45,
        "memory": True,
        "cell": "hp",
        "loas": {"pes": 8},
    }
    loas, sparten = (accelerator_from_params(block, machine) for machine in ("loas", "sparten"))
    assert (loas.name, loas.pes, sparten.pes) == ("mine", 8, 64)
    assert (loas.profile, loas.prices.dram_bit_pj, loas.prices.cache_leakage_mw) == ("h1", 12.45, 825.0)
    assert accelerator_from_params({"activation_entries": 77}, "sparten").activation_entries == 77


def test_a_price_set_can_be_exchanged_without_losing_leakage_and_dram() -> None:
    prices = accelerator_from_params({"prices": "aladdin40"}).prices
    assert prices.bitmask_load_pj == PRICE_SETS["aladdin40"].bitmask_load_pj
    assert (prices.pe_leakage_mw, prices.dram_bit_pj) == (0.50, 3.9)


def test_sparten_has_no_laggy_prefix_sum() -> None:
    assert accelerator_from_params({"profile": "cons"}, "loas").join.lag_cycles == 8
    assert accelerator_from_params({"profile": "cons"}, "sparten").join.lag_cycles == 0


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("pascal41", ["pascal41", "pascal40"]),
        ({"base": "loas"}, ["loas", "pascal40"]),
        ({"pes": 0}, ["pes", "0", ">= 1"]),
        ({"pes": 2.5}, ["pes", "2.5"]),
        ({"pes": True}, ["pes", "True"]),
        ({"chunk": 96}, ["chunk", "96", "power of two"]),
        ({"profil": "nf"}, ["profil", "profile"]),
        ({"loas": {"pe": 3}}, ["'pe'"]),
        ({"profile": "fast"}, ["profile", "fast", "cons"]),
        ({"clock_mhz": 0}, ["clock_mhz", "0"]),
        ({"clock_mhz": float("nan")}, ["clock_mhz", "nan"]),
        ({"dram_bit_pj": -1}, ["dram_bit_pj", "-1"]),
        ({"dram_bit_pj": "much"}, ["dram_bit_pj", "much"]),
        ({"prices": "free"}, ["prices", "free", "synthesis40"]),
        ({"cell": "hp", "node_nm": 32}, ["cell", "hp", "32"]),
        ({"timesteps": 0}, ["timesteps", "0"]),
        ({"memory": "often"}, ["memory", "often"]),
        (7, ["7", "keys"]),
        ({"base": ["h1"]}, ["h1", "pascal40"]),
        ({"loas": 3}, ["loas", "3"]),
        ({"loas": {"base": "h1"}}, ["loas", "base"]),
        ({"prices": ["h1"]}, ["prices", "h1"]),
        ({"cell": ["hp"]}, ["cell", "hp"]),
    ],
)
def test_bad_blocks_are_refused_by_name(block: Any, words: list[str]) -> None:
    with pytest.raises(PascalError) as error:
        accelerator_from_params(block)
    assert all(word in str(error.value) for word in words)


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(PascalError, match="eyeriss"):
        accelerator_from_params("pascal40", "eyeriss")
