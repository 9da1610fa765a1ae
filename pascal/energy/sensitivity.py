"""Under which assumptions the SNN needs less energy than the ANN it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from pascal.energy.costs import EnergyCosts
from pascal.energy.model import ann_energy, snn_energy, total_pj
from pascal.workload import LayerWorkload


@dataclass(frozen=True)
class Assumption:
    """One way to price both networks, and what comes of it."""

    costs: str
    memory: bool
    skip_zeros: bool  # the ANN skips MACs whose input is zero
    low_bits: bool  # the ANN carries activations in ⌈log₂(L+1)⌉ bits
    ann_pj: float
    snn_pj: float

    @property
    def ratio(self) -> float:
        """Energy_ANN / Energy_SNN: above one the SNN wins."""
        return self.ann_pj / self.snn_pj

    @property
    def winner(self) -> str:
        """The network that needs less."""
        return "SNN" if self.ratio > 1 else "ANN"


def sensitivity(workloads: Sequence[LayerWorkload], costs: Mapping[str, EnergyCosts]) -> list[Assumption]:
    """Every combination of costs, memory in or out, zero-skipping and low-bit activations of the ANN."""
    return [
        Assumption(
            costs=name,
            memory=memory,
            skip_zeros=skip_zeros,
            low_bits=low_bits,
            ann_pj=total_pj(ann_energy(workloads, prices, skip_zeros, low_bits, memory)),
            snn_pj=total_pj(snn_energy(workloads, prices, memory=memory)),
        )
        for name, prices in costs.items()
        for memory, skip_zeros, low_bits in product((False, True), repeat=3)
    ]
