"""The layers of a network as the equations see them: checked, with their levels, and with the trains that arrive."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

from pascal.checks import check_several, shown
from pascal.errors import PascalError
from pascal.workload import LayerWorkload

Levels = int | Sequence[int] | Mapping[str, int] | None  # one for all, in forward order, by activation, as recorded


@dataclass(frozen=True)
class NeuronLayer:
    """The neurons of one activation and what reaches them."""

    activation: str
    neurons: int
    levels: int  # L_n
    timesteps: int | None  # L_{n−1}, of the longest train that arrives; None: pixels
    producers: frozenset[str]
    fan_in: int  # of the main path
    spikes_per_neuron: float | None


def check_workloads(workloads: Iterable[LayerWorkload]) -> list[LayerWorkload]:
    """The workloads as a list, if each layer works and each activation belongs to one layer."""
    workloads = check_several(workloads, "workloads", "one LayerWorkload per layer; rerun stage workload")
    for workload in workloads:
        if not isinstance(workload, LayerWorkload):
            raise PascalError(f"workloads: got {shown(workload)} among them, expected LayerWorkload records")
        if workload.macs < 1 or workload.fan_in < 1:
            raise PascalError(
                f"layer {workload.path!r}: got macs={workload.macs} and fan_in={workload.fan_in}, "
                "expected at least 1 of each; rerun stage workload"
            )
    owned = [workload.activation for workload in workloads if workload.is_main_path]
    if doubled := sorted({str(name) for name in owned if owned.count(name) > 1}):
        raise PascalError(f"activations {doubled}: each must belong to one layer; rerun stage workload")
    return workloads


def spiking_layers(workloads: Iterable[LayerWorkload]) -> list[LayerWorkload]:
    """The layers that own an activation, in the activations' forward order: the paper's L_tot."""
    workloads = check_workloads(workloads)
    # Neurons fire after the last of the branches that meet in them, which need not be the main path.
    last = {workload.activation: position for position, workload in enumerate(workloads)}
    owners = [workload for workload in workloads if workload.is_main_path]
    if not owners:
        raise PascalError("workloads: no layer has an activation, so the network does not spike; quantize it first")
    return sorted(owners, key=lambda owner: last[owner.activation])


def levels_by_activation(workloads: Sequence[LayerWorkload], levels: Levels = None) -> dict[str, int]:
    """L of each activation: one number for all, a list in forward order, a mapping, or None for the recorded ones."""
    owners = spiking_layers(workloads)
    names = [str(owner.activation) for owner in owners]
    found: Mapping[str, object]
    if levels is None:
        found = {name: owner.levels for name, owner in zip(names, owners, strict=True)}
    elif isinstance(levels, Mapping):
        found = _same_names(levels, names, {name for workload in workloads for name in workload.producers})
    elif isinstance(levels, Sequence) and not isinstance(levels, str):
        if len(levels) != len(names):
            raise PascalError(f"levels: got {len(levels)} numbers for {len(names)} QCFS layers; give one for each")
        found = dict(zip(names, levels, strict=True))
    else:
        found = dict.fromkeys(names, levels)
    return {name: _whole(level, name) for name, level in found.items()}


def neuron_layers(workloads: Sequence[LayerWorkload], levels: Levels = None) -> list[NeuronLayer]:
    """The neurons of each activation; where branches meet, the longest train sets the timesteps."""
    by_activation = levels_by_activation(workloads, levels)
    # A producer without a weighted layer of its own has no record, so its levels are known from its edges alone.
    recorded = {name: workload.timesteps for workload in workloads for name in workload.producers}
    return [_neuron_layer(owner, workloads, recorded | by_activation) for owner in spiking_layers(workloads)]


def _neuron_layer(owner: LayerWorkload, workloads: Sequence[LayerWorkload], levels: Mapping[str, int]) -> NeuronLayer:
    branches = [workload for workload in workloads if workload.activation == owner.activation]
    producers = frozenset(owner.arrivals).union(*(branch.producers for branch in branches))
    return NeuronLayer(
        activation=str(owner.activation),
        neurons=owner.neurons,
        levels=levels[str(owner.activation)],
        timesteps=max((levels[name] for name in producers if name in levels), default=None),
        producers=producers,
        fan_in=owner.fan_in,
        spikes_per_neuron=owner.spikes_per_neuron,
    )


def _same_names(levels: Mapping[str, int], names: Sequence[str], producers: set[str]) -> Mapping[str, object]:
    missing, unknown = set(names) - levels.keys(), levels.keys() - set(names) - producers
    if missing or unknown:
        raise PascalError(f"levels and network disagree on {sorted(missing | unknown)}; rerun stage assign")
    return {name: levels[name] for name in names}


def _whole(level: object, activation: str) -> int:
    if isinstance(level, bool) or not isinstance(level, Integral) or level < 1:
        raise PascalError(f"levels of activation {activation!r}: got {level!r}, expected a whole number >= 1")
    return int(level)
