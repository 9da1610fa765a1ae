"""What one operation costs: the appendix' energies at 45 nm, and any others a parameter file names."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Real
from typing import Any

from pascal.errors import PascalError


@dataclass(frozen=True)
class EnergyCosts:
    """Energy of each operation in one arithmetic; memory is on-chip SRAM."""

    bits: int  # of a weight, a membrane and a full-precision activation
    add_pj: float
    multiply_pj: float
    read_pj_per_byte: float
    write_pj_per_byte: float

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value) or value < 0:
                raise PascalError(f"energy cost {name!r}: got {value!r}, expected a finite number >= 0")
        if not isinstance(self.bits, int) or self.bits < 1:
            raise PascalError(f"energy cost 'bits': got {self.bits!r}, expected a whole number >= 1")
        if self.add_pj == 0:
            raise PascalError("energy cost 'add_pj': got 0, expected more, or no ratio to an SNN exists")

    def mac_pj(self, activation_bits: int | None = None) -> float:
        """One multiplication and one addition; an array multiplier shrinks with the bits of its second operand."""
        share = 1.0 if activation_bits is None else min(activation_bits, self.bits) / self.bits
        return self.add_pj + self.multiply_pj * share

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> "EnergyCosts":
        """The costs under one name of a parameter file, refusing missing and unknown keys by name."""
        known = {field.name for field in fields(cls)}
        if not isinstance(params, Mapping):
            raise PascalError(f"energy costs: got {params!r}, expected a mapping with keys {sorted(known)}")
        if missing := sorted(known - params.keys()):
            raise PascalError(f"energy costs: keys {missing} are missing; add them to the parameters")
        if unknown := sorted(map(str, params.keys() - known)):
            raise PascalError(f"energy costs: keys {unknown} are unknown, expected {sorted(known)}")
        return cls(**params)


# Operations: the appendix' table, from Horowitz 2014. Memory: 64 bits of a 32 KB SRAM cost 20 pJ in the same source.
FP32 = EnergyCosts(bits=32, add_pj=0.9, multiply_pj=3.7, read_pj_per_byte=2.5, write_pj_per_byte=2.5)
INT8 = EnergyCosts(bits=8, add_pj=0.03, multiply_pj=0.2, read_pj_per_byte=2.5, write_pj_per_byte=2.5)
