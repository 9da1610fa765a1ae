"""How busy the neurons are, by layer and by timestep. Trains are earliest-first, so counts tell when spikes fall."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pascal.energy.layers import spiking_layers
from pascal.errors import PascalError
from pascal.workload import LayerWorkload


@dataclass(frozen=True)
class Activity:
    """The share of an activation's neurons that fire in one timestep; without a timestep, the mean over its train."""

    activation: str
    timestep: int | None  # 1..L, as in the paper
    firing: float


def layer_activity(workloads: Iterable[LayerWorkload]) -> list[Activity]:
    """Mean activity of each layer: SpikeRate / L."""
    return [_mean_activity(owner) for owner in spiking_layers(workloads)]


def timestep_activity(histograms: Mapping[str, Sequence[int]]) -> list[Activity]:
    """Activity of each timestep t of each activation: the share of neurons whose count is at least t.

    A histogram holds the number of neurons with count 0, 1, … L.
    """
    return [
        Activity(activation, timestep, sum(histogram[timestep:]) / sum(histogram))
        for activation, histogram in histograms.items()
        for timestep in range(1, len(_check(activation, histogram)))
    ]


def _mean_activity(owner: LayerWorkload) -> Activity:
    if owner.spikes_per_neuron is None or owner.levels is None:
        raise PascalError(f"activation {owner.activation!r}: its spikes were not measured; run stage workload")
    return Activity(str(owner.activation), None, owner.spikes_per_neuron / owner.levels)


def _check(activation: str, histogram: Sequence[int]) -> Sequence[int]:
    if len(histogram) < 2 or min(histogram) < 0 or not sum(histogram):
        raise PascalError(
            f"histogram of {activation!r}: got {list(histogram)}, expected neurons with count 0, 1, … L, not all zero"
        )
    return histogram
