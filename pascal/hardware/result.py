"""The result of a simulation: one number per image, layer and quantity, and its sums as rows for tables and JSON."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import NDArray

from pascal.accelerators.accelerator import Accelerator
from pascal.hardware.energy import COMPONENTS, EVENTS
from pascal.hardware.intervals import mean_interval
from pascal.hardware.trace import own_levels
from pascal.workload import LayerWorkload

CYCLES = ("compute_cycles", "neuron_cycles", "stall_cycles")
FIELDS = (*EVENTS, *CYCLES, "busy_cycles", *(f"{component}_pj" for component in COMPONENTS))
ON_CHIP_DYNAMIC = ("pe", "neuron", "sram")
ON_CHIP = (*ON_CHIP_DYNAMIC, "static")
_TEST_SET = 10_000  # images that the paper sums over


@dataclass(frozen=True, eq=False)
class Simulation:
    """Events, cycles and pJ of one machine; `values` is (images, layers, FIELDS)."""

    accelerator: Accelerator
    neuron: str
    workloads: tuple[LayerWorkload, ...]
    synthetic: bool  # random masks, not recorded spikes
    values: NDArray

    @property
    def images(self) -> int:
        """Images simulated."""
        return len(self.values)

    def of_image(self, *fields: str) -> NDArray:
        """Sum over layers and the named quantities. Shape: (images,)."""
        return self.values[:, :, [FIELDS.index(field) for field in fields]].sum((1, 2))

    def energy_pj(self, components: tuple[str, ...] = COMPONENTS) -> NDArray:
        """pJ of each image."""
        return self.of_image(*(f"{component}_pj" for component in components))

    @property
    def cycles(self) -> NDArray:
        """Cycles of each image, layers one after another."""
        return self.of_image(*CYCLES)

    @property
    def latency_s(self) -> float:
        """Mean seconds per image."""
        return float(self.cycles.mean()) / (self.accelerator.clock_mhz * 1e6)

    def mean(self, field: str) -> float:
        """A quantity per image, over all layers."""
        return float(self.of_image(field).mean())

    @property
    def joint_density(self) -> float:
        """Matches per multiplication of the dense network."""
        macs = sum(workload.macs for workload in self.workloads)
        return self.mean("match") / macs if macs else 0.0

    def layer_rows(self) -> Iterator[dict[str, Any]]:
        """One row per layer, means over images."""
        for workload, values in zip(self.workloads, self.values.mean(0), strict=True):
            row = dict(zip(FIELDS, map(float, values), strict=True))
            yield {"path": workload.path, "levels": own_levels(workload), **row, **_shares(row, self.accelerator.pes)}

    def summary(self) -> dict[str, Any]:
        """The network's figures, with the conditions that must stand beside them."""
        row = dict(zip(FIELDS, map(float, self.values.mean(0).sum(0)), strict=True))
        accelerator = self.accelerator
        total_pj, on_chip_pj = float(self.energy_pj().mean()), float(self.energy_pj(ON_CHIP).mean())
        return {
            "preset": accelerator.name,
            "machine": accelerator.machine,
            "neuron": self.neuron,
            "masks": "synthetic Bernoulli" if self.synthetic else "recorded images",
            "images": self.images,
            "pes": accelerator.pes,
            "memory": accelerator.memory,
            "overlap": accelerator.overlap,
            "joint_density": self.joint_density,
            **row,
            **_shares(row, accelerator.pes),
            "latency_ms_per_image": self.latency_s * 1e3,
            **_interval("latency_ms", self.cycles / self.accelerator.clock_mhz * 1e-3),
            "latency_s_per_10000": self.latency_s * _TEST_SET,
            "energy_uj_per_image": total_pj * 1e-6,
            **_interval("energy_uj", self.energy_pj() * 1e-6),
            "energy_uj_per_image_without_dram": on_chip_pj * 1e-6,
            "energy_mj_per_10000": total_pj * 1e-9 * _TEST_SET,
            "energy_mj_per_10000_without_dram": on_chip_pj * 1e-9 * _TEST_SET,
            "note": accelerator.note,
        }

    def to_json(self) -> dict[str, Any]:
        """Everything for a file: machine, summary, layers."""
        return {"accelerator": asdict(self.accelerator), "summary": self.summary(), "layers": list(self.layer_rows())}


def _interval(name: str, of_images: NDArray) -> dict[str, float | None]:
    """95 % bootstrap interval of the mean over images; None for one image."""
    low, high = mean_interval(of_images)
    return {f"{name}_low": low, f"{name}_high": high}


def _shares(row: dict[str, float], pes: int) -> dict[str, float]:
    """Cycles in all, and the share of PE cycles that joins use; imbalance = 1 − Σw/(PEs · cycles without stalls)."""
    scheduled = row["compute_cycles"] + row["neuron_cycles"]
    utilisation = row["busy_cycles"] / (pes * scheduled) if scheduled else 0.0
    return {
        "cycles": scheduled + row["stall_cycles"],
        "utilisation": utilisation,
        "imbalance": 1 - utilisation if scheduled else 0.0,
    }
