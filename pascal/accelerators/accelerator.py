"""Accelerators as frozen, validated records: a preset or a user's block of parameters, for LoAS or for SparTen."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from pascal.accelerators.presets import PRESETS, ROOT
from pascal.accelerators.prices import PRICE_SETS, Prices, with_cache
from pascal.errors import PascalError

MACHINES = ("loas", "sparten")


@dataclass(frozen=True)
class JoinProfile:
    """Cycles of one chunk's join: sched + max(m + fill, lag) for m > 0 matches, else sched + empty; a neuron drains."""

    sched_cycles: int
    fill_cycles: int
    empty_cycles: int
    lag_cycles: int
    drain_cycles: int


JOIN_PROFILES = MappingProxyType(
    {
        "ideal": JoinProfile(0, 0, 0, 0, 0),  # LoAS's own simulator: cycles = matches
        "h1": JoinProfile(1, 0, 0, 0, 0),
        "nf": JoinProfile(1, 3, 1, 0, 0),  # NeuroFlex's public code
        "cons": JoinProfile(1, 3, 1, 8, 1),  # the laggy prefix-sum is not double-buffered
    }
)

CHOICES = {
    "machine": MACHINES,
    "profile": tuple(JOIN_PROFILES),
    "schedule": ("dynamic", "lpt", "barrier", "barrier_n", "gb"),
    "overlap": ("blocking", "pipelined"),
    "if_unit": ("unrolled", "serial"),
    "pasc_unit": ("serial", "flat"),
    "image_timesteps": ("one", "levels"),
    "replacement": ("fifo", "lru"),
    "memory": (True, False),
    "writeback": ("map", "im2col"),
    "first_layer": ("mac", "skip"),
    "average_pool": ("expand", "ideal"),
    "k_order": ("cmajor", "pixmajor"),
}
WHOLE = ("node_nm", "pes", "chunk", "tile", "activation_entries", "weight_entries", "batch", "weight_bits", "act_bits")
POSITIVE = ("clock_mhz", "dram_gb_per_s")


@dataclass(frozen=True)
class Accelerator:
    """One machine at one design point."""

    name: str
    machine: str
    prices: Prices
    node_nm: int
    clock_mhz: float
    pes: int
    chunk: int  # positions that one join looks at
    timesteps: int | None  # that the PE holds at once; None: the largest L of the network
    profile: str
    schedule: str
    overlap: str  # of a PE's next join with its neuron unit
    if_unit: str
    pasc_unit: str
    image_timesteps: str  # the first layer's image is one timestep (Algorithm 2), or repeated over L of them
    tile: int  # neurons that one PE takes per tile, one after another
    activation_entries: int  # of the cache's two partitions, in positions
    weight_entries: int
    replacement: str
    memory: bool
    dram_gb_per_s: float
    batch: int  # images per fetch of the weights
    weight_bits: int
    act_bits: int  # of SparTen's activations; LoAS packs one bit per timestep
    writeback: str
    first_layer: str
    average_pool: str
    k_order: str
    note: str = ""

    def __post_init__(self) -> None:
        for key, allowed in CHOICES.items():
            self._require(key, getattr(self, key) in allowed, f"one of {', '.join(map(str, allowed))}")
        for key in WHOLE:
            self._require(key, _is_whole(getattr(self, key)), "a whole number >= 1")
        for key in POSITIVE:
            value = getattr(self, key)
            self._require(key, isinstance(value, int | float) and 0 < value < float("inf"), "a finite number > 0")
        self._require("chunk", self.chunk & (self.chunk - 1) == 0 and self.chunk <= 1 << 15, "a power of two <= 32768")
        self._require("timesteps", self.timesteps is None or _is_whole(self.timesteps), "a whole number >= 1, or null")

    def _require(self, key: str, holds: bool, expected: str) -> None:
        if not holds:
            raise PascalError(f"accelerator {self.name!r}: {key}: got {getattr(self, key)!r}, expected {expected}")

    @property
    def join(self) -> JoinProfile:
        """The join's cycles; SparTen has no laggy prefix-sum, so `cons` is `nf` there."""
        profile = JOIN_PROFILES[self.profile]
        return JOIN_PROFILES["nf"] if self.machine == "sparten" and profile.lag_cycles else profile

    @property
    def dram_bytes_per_cycle(self) -> float:
        """Bandwidth per clock: 128 GB/s at 560 MHz is 228.6 B."""
        return self.dram_gb_per_s * 1e3 / self.clock_mhz


_FIELDS = {field.name for field in fields(Accelerator)} - {"machine", "prices"}
_PRICES = {field.name for field in fields(Prices)}
_OWN_KEYS = _FIELDS | _PRICES | {"prices", "cell"}


def accelerator_from_params(params: str | Mapping[str, Any] | Accelerator, machine: str = "loas") -> Accelerator:
    """A preset's name, or a block `{base: preset, key: value, …, loas: {…}, sparten: {…}}`, as a record.

    Keys are those of `Accelerator` and `Prices`, a price set's name as `prices`, and the cache's `cell`.
    """
    if isinstance(params, Accelerator):
        return params
    if machine not in MACHINES:
        raise PascalError(f"accelerator: got {machine!r}, expected one of {', '.join(MACHINES)}")
    values = _resolve({"base": params, "name": params} if isinstance(params, str) else params, machine)
    own = {key: value for key, value in values.items() if key in _FIELDS}
    return Accelerator(machine=machine, prices=_prices(values), **own)


def _resolve(block: Mapping[str, Any], machine: str) -> dict[str, Any]:
    """The base's values under the block's own; within one block the machine's part wins over the common part."""
    _check_keys(block, _OWN_KEYS | {"base", *MACHINES}, "block")
    name = block.get("name", f"{block.get('base', ROOT)}, modified")
    for part in MACHINES:
        _check_keys(block.get(part, {}), _OWN_KEYS, f"{name!r}, part {part}")
    base = {} if block is PRESETS[ROOT] else _resolve(_preset(block.get("base", ROOT)), machine)
    return {**base, **block, **block.get(machine, {}), "name": name}


def _preset(name: Any) -> Mapping[str, Any]:
    if not isinstance(name, str) or name not in PRESETS:
        raise PascalError(f"accelerator preset: got {name!r}, expected one of {', '.join(PRESETS)}")
    return PRESETS[name]


def _check_keys(block: Any, known: set[str], where: str) -> None:
    if not isinstance(block, Mapping):
        raise PascalError(f"accelerator {where}: got {block!r}, expected keys and values")
    for key in block:
        if key not in known:
            near = difflib.get_close_matches(str(key), sorted(known), 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(sorted(known))}"
            raise PascalError(f"accelerator {where}: unknown key {key!r}; {hint}")


def _prices(values: Mapping[str, Any]) -> Prices:
    if values["prices"] not in list(PRICE_SETS):
        known = ", ".join(PRICE_SETS)
        raise PascalError(f"accelerator {values['name']!r}: prices: got {values['prices']!r}, expected one of {known}")
    prices = with_cache(PRICE_SETS[values["prices"]], values["node_nm"], values["cell"])
    return replace(prices, **{key: value for key, value in values.items() if key in _PRICES})


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
