"""The design points, as the blocks of parameters that a user would write; each one changes its base."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pascal.accelerators.paper import printed_ratio

ROOT = "pascal40"  # the default, and the base of every block that names none
_H1_MATCH_PJ = 19.66  # SparTen's PE: 11.010 mW / 560 MHz

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "pascal40": {
            "name": "pascal40",
            "node_nm": 40,
            "clock_mhz": 560.0,  # the paper's synthesis
            "pes": 16,
            "chunk": 128,
            "timesteps": None,
            "profile": "nf",
            "schedule": "dynamic",
            "overlap": "blocking",
            "if_unit": "unrolled",
            "pasc_unit": "serial",
            "image_timesteps": "one",
            "tile": 32,
            "replacement": "fifo",
            "memory": True,
            "dram_gb_per_s": 128.0,  # HBM
            "batch": 1,
            "weight_bits": 8,
            "act_bits": 8,
            "writeback": "map",
            "first_layer": "mac",
            "average_pool": "expand",
            "k_order": "cmajor",
            "prices": "synthesis40",
            "cell": "lop",
            "dram_bit_pj": 3.9,  # HBM
            # PE leakage: LoAS's 2.82 mW less 5.80 pJ / 2.5 ns; SparTen's part by part from the same table (assumed).
            "loas": {"activation_entries": 131_072, "weight_entries": 4_096, "pe_leakage_mw": 0.50},
            "sparten": {"activation_entries": 8_192, "weight_entries": 131_072, "pe_leakage_mw": 0.77},
        },
        "loas32": {
            "name": "loas32",
            "base": "pascal40",
            "node_nm": 32,
            "clock_mhz": 800.0,
            "timesteps": 4,
            "profile": "ideal",
            "first_layer": "skip",  # LoAS leaves it out of its evaluation
            "writeback": "im2col",
            "prices": "synthesis32",
            "loas": {"schedule": "barrier"},
            "sparten": {"schedule": "barrier_n"},
            "note": "LoAS as published; for validation only",
        },
        "loas32_script": {
            "name": "loas32_script",
            "base": "loas32",
            "prices": "none",
            "cell": "none",
            "sram_read_byte_pj": 0.0681,
            "sram_write_byte_pj": 0.0681,
            "dram_bit_pj": 2.9 / 8,
            "cache_leakage_mw": 0.1245,  # the script's static term is in nJ where the others are in pJ
            "loas": {"match_pj": 5.80, "pe_leakage_mw": 0.50e-3},
            "sparten": {"match_pj": 7.95, "pe_leakage_mw": 0.77e-3},
            "note": "constants of LoAS's energy script, whose units do not agree: ratios only, not joules",
        },
        "h1": {
            "name": "h1",
            "base": "pascal40",
            "pes": 1024,
            "profile": "h1",
            "memory": False,
            "image_timesteps": "levels",
            "prices": "h1",
            "cell": "none",
            "pe_leakage_mw": 0.0,
            # 2.351 pJ: SparTen's divided by the paper's ratio 8.362, an input and not a result.
            "loas": {"match_pj": round(_H1_MATCH_PJ / printed_ratio("ANN energy mJ", "IF energy mJ"), 3)},
            "sparten": {"match_pj": _H1_MATCH_PJ},
            "note": "hypothesis of how the reported figures arise; no reproduction of hardware",
        },
        "horowitz45": {
            "name": "horowitz45",
            "base": "pascal40",
            "node_nm": 45,
            "profile": "ideal",
            "memory": False,
            "prices": "horowitz45",
            "cell": "none",
            "pe_leakage_mw": 0.0,
            "note": "operation counting with the paper's 45 nm INT8 energies; its cycles are ideal",
        },
    }
)
