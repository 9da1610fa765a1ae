"""What a plan costs: timesteps, synaptic operations, energy, cycles of an accelerator, or any function of levels."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from pascal.energy import FP32, EnergyCosts, snn_energy, snn_operations, total_pj
from pascal.errors import PascalError
from pascal.graph import measure
from pascal.hardware import Accelerator, accelerator_from_params, simulate
from pascal.planning.network import Assignment, Network, levels_of
from pascal.workload import LayerWorkload

LevelsCost = Callable[[Mapping[str, int]], float]  # of the levels by layer
CostKind = str | EnergyCosts | Accelerator | LevelsCost
NAMES = ("timesteps", "synops", "energy", "latency")
_UNITS = dict(zip(NAMES, ("timesteps", "synaptic operations", "pJ", "cycles"), strict=True))
_MEASURED_IMAGES = 32  # spikes are means over many thousand neurons, so few images tell them
_SIMULATED_IMAGES = 2


@dataclass(eq=False)
class Cost:
    """A cost of whole networks; the planner takes its differences, so that what is nearly additive will do."""

    name: str
    unit: str
    _of: Callable[[Assignment], float]
    _seen: dict[tuple[object, ...], float] = field(default_factory=dict)

    def __call__(self, assignment: Assignment) -> float:
        """The cost per image."""
        key = tuple(assignment.items())
        if key not in self._seen:
            self._seen[key] = _checked(self._of(assignment), self.name)
        return self._seen[key]


def make_cost(kind: CostKind, network: Network, images: Tensor) -> Cost:
    """The cost by name, of an `EnergyCosts` or `Accelerator` record, or a function of the levels by layer."""
    if isinstance(kind, EnergyCosts):
        return _measured("energy", network, images, lambda layers: total_pj(snn_energy(layers, kind)))
    if isinstance(kind, Accelerator):
        return _measured("latency", network, images, lambda layers: _cycles(layers, kind))
    if callable(kind):
        name = getattr(kind, "__name__", "cost")
        return Cost(name, "", lambda assignment: kind(levels_of(assignment)))
    if kind == "timesteps":
        return Cost(kind, _UNITS[kind], lambda assignment: sum(levels_of(assignment).values()))
    if kind == "synops":
        return _measured(kind, network, images, _synops)
    if kind == "energy":
        return make_cost(FP32, network, images)
    if kind == "latency":
        return make_cost(accelerator_from_params("pascal40"), network, images)
    expected = f"{', '.join(NAMES)}, an EnergyCosts, an Accelerator, or a function of the levels by layer"
    raise PascalError(f"cost: got {kind!r}, expected one of {expected}")


def _measured(name: str, network: Network, images: Tensor, price: Callable[[list[LayerWorkload]], float]) -> Cost:
    pieces = images[:_MEASURED_IMAGES].split(network.piece)

    def of(assignment: Assignment) -> float:
        with torch.no_grad():
            return price(measure(network.copy(assignment), pieces))

    return Cost(name, _UNITS[name], of)


def _synops(layers: list[LayerWorkload]) -> float:
    return sum(layer.acs for layer in snn_operations(layers))


def _cycles(layers: list[LayerWorkload], accelerator: Accelerator) -> float:
    """LoAS with PASC neurons, on masks drawn at the measured densities."""
    return float(simulate(layers, accelerator.machine, "pasc", accelerator, images=_SIMULATED_IMAGES).cycles.mean())


def _checked(value: float, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise PascalError(f"cost {name!r}: gave {value!r}, expected a finite number >= 0")
    return number
