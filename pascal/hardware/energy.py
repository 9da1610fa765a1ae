"""Energy: events × pJ, by component, and leakage × time."""

from collections.abc import Mapping

from pascal.accelerators.accelerator import Accelerator
from pascal.accelerators.prices import Prices
from pascal.hardware.units import unit_leakage_mw

# Which part of the machine an event belongs to, and which price it pays. Biases and residual spikes are 10-bit adds.
EVENTS: dict[str, tuple[str, str]] = {
    "match": ("pe", "match_pj"),
    "pseudo_add": ("pe", "pseudo_add_pj"),
    "correction_add": ("pe", "correction_add_pj"),
    "bias_add": ("pe", "correction_add_pj"),
    "residual_add": ("pe", "correction_add_pj"),
    "fast_prefix_sum": ("pe", "fast_prefix_sum_pj"),
    "laggy_prefix_sum": ("pe", "laggy_prefix_sum_pj"),
    "fifo_entry": ("pe", "fifo_entry_pj"),
    "buffer_read": ("pe", "buffer_read_pj"),
    "bitmask_load": ("pe", "bitmask_load_pj"),
    "multiply": ("pe", "multiply_pj"),
    "accumulate": ("pe", "accumulate_pj"),
    "dense_mac": ("pe", "dense_mac_pj"),
    "spike_add": ("pe", "spike_add_pj"),
    "membrane_update": ("neuron", "membrane_update_pj"),
    "counter_update": ("neuron", "counter_update_pj"),
    "qcfs": ("neuron", "qcfs_pj"),
    "sram_read_byte": ("sram", "sram_read_byte_pj"),
    "sram_write_byte": ("sram", "sram_write_byte_pj"),
    "dram_bit": ("dram", "dram_bit_pj"),
}
COMPONENTS = ("pe", "neuron", "sram", "static", "dram")


def dynamic_pj(events: Mapping[str, float], prices: Prices) -> dict[str, float]:
    """Σ events × pJ of each component."""
    energy = dict.fromkeys(("pe", "neuron", "sram", "dram"), 0.0)
    for event, number in events.items():
        component, price = EVENTS[event]
        energy[component] += number * getattr(prices, price)
    return energy


def static_pj(accelerator: Accelerator, neuron: str, cycles: float) -> float:
    """Leakage of PEs, neuron units and cache over the time: mW × cycles / MHz is nJ."""
    prices = accelerator.prices
    per_pe_mw = prices.pe_leakage_mw + unit_leakage_mw(accelerator, neuron)
    leakage_mw = accelerator.pes * per_pe_mw + (prices.cache_leakage_mw if accelerator.memory else 0.0)
    return leakage_mw * cycles / accelerator.clock_mhz * 1e3
