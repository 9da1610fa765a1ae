"""What one event costs: datapath energies of a 128-position PE, SRAM by CACTI, leakage. All in pJ and mW."""

from dataclasses import dataclass, fields, replace
from types import MappingProxyType

from pascal.errors import PascalError

_LINE_BYTES = 32  # one access of the 256 KB, 16-bank cache


@dataclass(frozen=True)
class Prices:
    """pJ per event and mW of leakage; an event that a set does not charge costs nothing."""

    match_pj: float = 0.0  # a whole PE, flat: what synthesis power × cycle time gives
    pseudo_add_pj: float = 0.0  # 12 bit
    correction_add_pj: float = 0.0  # 10 bit
    fast_prefix_sum_pj: float = 0.0
    laggy_prefix_sum_pj: float = 0.0
    fifo_entry_pj: float = 0.0  # match position and weight
    buffer_read_pj: float = 0.0  # 128 B weight buffer
    bitmask_load_pj: float = 0.0  # 128 bit
    multiply_pj: float = 0.0  # INT8
    accumulate_pj: float = 0.0  # 24 bit
    membrane_update_pj: float = 0.0  # 16-bit add, compare, registers
    counter_update_pj: float = 0.0  # spike counter ±1
    qcfs_pj: float = 0.0  # compare with all levels at once; assumed as dear as one membrane update
    dense_mac_pj: float = 0.0  # operation counting: every MAC of an ANN
    spike_add_pj: float = 0.0  # operation counting: every spike times its fan-out
    sram_read_byte_pj: float = 0.0
    sram_write_byte_pj: float = 0.0
    dram_bit_pj: float = 0.0
    pe_leakage_mw: float = 0.0  # each
    neuron_leakage_mw: float = 0.0  # each unrolled IF unit; other units by their transistors
    cache_leakage_mw: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise PascalError(f"{field.name}: got {value!r}, expected a finite number >= 0")


# LoAS's 32 nm synthesis table: dynamic power × 2.5 ns; the neuron's parts scaled by width from its adders (assumed).
_SYNTHESIS_32 = Prices(
    pseudo_add_pj=0.073,
    correction_add_pj=0.061,
    fast_prefix_sum_pj=2.93,
    laggy_prefix_sum_pj=0.67,
    fifo_entry_pj=0.54,
    buffer_read_pj=0.13,
    bitmask_load_pj=0.60,
    multiply_pj=0.60,
    accumulate_pj=0.146,
    membrane_update_pj=0.105,
    counter_update_pj=0.030,
    qcfs_pj=0.105,
    neuron_leakage_mw=0.034,  # assumed: 4 updates × 0.105 pJ / 2.5 ns, times the PE's share of leakage, 0.2
)
# × 1.53: what CACTI gives for one SRAM between 32 and 40 nm.
_SYNTHESIS_40 = replace(
    _SYNTHESIS_32,
    pseudo_add_pj=0.11,
    correction_add_pj=0.093,
    fast_prefix_sum_pj=4.49,
    laggy_prefix_sum_pj=1.03,
    fifo_entry_pj=0.83,
    buffer_read_pj=0.21,
    bitmask_load_pj=0.92,
    multiply_pj=0.92,
    accumulate_pj=0.22,
    membrane_update_pj=0.16,
    counter_update_pj=0.046,
    qcfs_pj=0.16,
)
# Accelergy's Aladdin library at 40 nm where it has the part: adder + register; FIFO 15 bits × 0.009; buffer by CACTI.
_ALADDIN_40 = replace(
    _SYNTHESIS_40,
    pseudo_add_pj=0.079 + 0.108,
    correction_add_pj=0.066 + 0.090,
    fifo_entry_pj=15 * 0.009,
    buffer_read_pj=0.61,
    bitmask_load_pj=1.15,
    multiply_pj=12.68 / 16,
    accumulate_pj=0.158 + 0.216,
    membrane_update_pj=0.31,
    counter_update_pj=0.039 + 0.045,
    qcfs_pj=0.31,
)
# PE power × cycle alone; the neuron's updates as at 40 nm.
_H1 = Prices(membrane_update_pj=0.16, counter_update_pj=0.046, qcfs_pj=0.16)

PRICE_SETS = MappingProxyType(
    {
        "synthesis32": _SYNTHESIS_32,
        "synthesis40": _SYNTHESIS_40,
        "aladdin40": _ALADDIN_40,
        "h1": _H1,
        "horowitz45": Prices(dense_mac_pj=0.23, spike_add_pj=0.03),  # INT8, the paper's appendix
        "horowitz45_fp32": Prices(dense_mac_pj=4.6, spike_add_pj=0.9),
        "none": Prices(),
    }
)

# CACTI 7, 256 KB, 16 banks, 32 B lines: (node nm, ITRS cell) → read pJ, write pJ, leakage mW of all banks.
# Writes of hp and lstp were not recorded; they take lop's ratio of write to read.
CACTI = MappingProxyType(
    {
        (32, "lop"): (64.8472, 71.20, 16 * 7.77766),
        (40, "lop"): (99.19, 109.51, 67.7),
        (45, "lop"): (125.9, 139.3, 13.7),
        (40, "hp"): (169.7, 169.7 * 109.51 / 99.19, 825.0),
        (40, "lstp"): (276.7, 276.7 * 109.51 / 99.19, 0.3),
    }
)


def with_cache(prices: Prices, node_nm: int, cell: str) -> Prices:
    """The same prices with the 256 KB cache built from another cell; `none` has no cache."""
    if cell == "none":
        return replace(prices, sram_read_byte_pj=0.0, sram_write_byte_pj=0.0, cache_leakage_mw=0.0)
    if (node_nm, cell) not in list(CACTI):
        known = ", ".join(f"{cell} at {node} nm" for node, cell in CACTI)
        raise PascalError(f"cell: got {cell!r} at {node_nm} nm; CACTI figures exist for {known}, or say 'none'")
    read_pj, write_pj, leakage_mw = CACTI[node_nm, cell]
    return replace(
        prices,
        sram_read_byte_pj=read_pj / _LINE_BYTES,
        sram_write_byte_pj=write_pj / _LINE_BYTES,
        cache_leakage_mw=leakage_mw,
    )
