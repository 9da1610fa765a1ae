"""What goes into and comes out of the clock-stepped reference."""

from collections import Counter
from dataclasses import dataclass, field

Spikes = list[int]


@dataclass(frozen=True)
class ReferenceLayer:
    """A small matrix product with integers: M rows of K trains, N filters of K weights."""

    trains: list[list[list[int]]]  # (M, K, L_{n−1}) of 0/1; pixels (M, K, 1) and graded currents of any integers
    weights: list[list[int]]  # (N, K)
    bias: list[int]  # (N,)
    step: int  # θ*, even
    levels: int | None  # L_n; None: no neuron follows
    pixels: bool = False
    graded: bool = False
    residual: list[list[list[list[int]]]] = field(default_factory=list)  # (paths, M, N, L_{n−1})


@dataclass
class ReferenceResult:
    """What happened: cycles, PE clocks per state, events, sums O[t] and spikes of each neuron."""

    cycles: int = 0
    states: Counter = field(default_factory=Counter)
    events: Counter = field(default_factory=Counter)
    sums: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    spikes: dict[tuple[int, int], Spikes] = field(default_factory=dict)


def spread(total: int, timesteps: int) -> list[int]:
    """Integers that sum to `total` exactly, the remainder on the first ones."""
    share, rest = divmod(total, timesteps)
    return [share + (timestep < rest) for timestep in range(timesteps)]
