"""`pascal.cost`: what an inference costs in one record: operations, timesteps, joules, and cycles on an accelerator."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from torch import nn

from pascal.energy import FP32, INT8, EnergyCosts, energy_summary, mean_spikes_per_neuron, total_macs, total_pj
from pascal.energy.tables import networks_compared
from pascal.graph import SpikingNetwork, convert, measure
from pascal.graph.trace import network_name
from pascal.hardware import simulate
from pascal.inference import check_model, image_batches
from pascal.recording import record
from pascal.text import html_table, si, text_table
from pascal.workload import LayerWorkload

TABLES = {"fp32": FP32, "int8": INT8}
_TIMESTEPS = {
    "timesteps": "T, timesteps of plain IF",
    "t_norm": "T_norm, normalised (equal levels)",
    "t_eff": "T_eff, effective (SpikeRate 0.75)",
    "t_eff_measured": "T_eff at the measured spikes",
    "t_total": "T_total, all trains end to end",
    "sequential_latency_timesteps": "latency, layer after layer",
}


@dataclass(frozen=True)
class Cost:
    """What one image costs, as a mean over `images`; print it, or take `to_dict()`.

    `energy_pj` holds for each cost table and network the energy with on-chip memory; the ANN's variants skip zeros or
    multiply by as few bits as its levels need. `simulation` is the accelerator's own account of the recorded spikes.
    """

    network: str
    images: int
    neuron: str
    workloads: tuple[LayerWorkload, ...]
    timesteps: dict[str, float]
    prices: Mapping[str, EnergyCosts]
    energy_pj: dict[str, dict[str, float]]
    simulation: dict[str, Any] | None = None

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the ANN."""
        return total_macs(self.workloads)

    @property
    def synaptic_operations(self) -> float:
        """Additions that spikes cause; layers that read pixels or currents multiply and are not among them."""
        return sum(layer.synaptic_operations or 0.0 for layer in self.workloads)

    @property
    def spikes_per_neuron(self) -> float:
        """The mean over layers, as the paper takes it."""
        return mean_spikes_per_neuron(self.workloads)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the layers."""
        return {
            "network": self.network,
            "images": self.images,
            "neuron": self.neuron,
            "macs": self.macs,
            "synaptic_operations": self.synaptic_operations,
            "spikes_per_neuron": self.spikes_per_neuron,
            "timesteps": self.timesteps,
            "energy_pj": self.energy_pj,
            "simulation": self.simulation,
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=1)

    def __str__(self) -> str:
        parts = [[self._title()], text_table(_QUANTITY, self._quantities()), text_table(*self._energies())]
        return "\n\n".join("\n".join(lines) for lines in [*parts, self._notes()])

    def _repr_html_(self) -> str:
        tables = html_table(_QUANTITY, self._quantities()) + html_table(*self._energies())
        return f"<p><b>{escape(self._title())}</b></p>{tables}<p>{'<br>'.join(map(escape, self._notes()))}</p>"

    def _title(self) -> str:
        return f"{self.network} with {self.neuron.upper()} neurons: cost of one image, mean over {self.images:,} images"

    def _quantities(self) -> list[tuple[str, str]]:
        return [
            ("MACs of the ANN", si(self.macs)),
            ("synaptic operations of the SNN", si(self.synaptic_operations)),
            ("spikes per neuron", f"{self.spikes_per_neuron:.3f}"),
            *((_TIMESTEPS[name], f"{value:.4g}") for name, value in self.timesteps.items()),
            *_simulated(self.simulation),
        ]

    def _energies(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Networks down, cost tables across; each beside the SNN's own."""
        tables = list(self.energy_pj)
        own = f"SNN {self.neuron.upper()}"
        networks = list(self.energy_pj[tables[0]])
        rows = [
            (network, *(cell for table in tables for cell in _beside(self.energy_pj[table], network, own)))
            for network in networks
        ]
        return ("energy", *(text for table in tables for text in (table, f"× {own}"))), rows

    def _notes(self) -> list[str]:
        notes = ["Energy: operations and on-chip SRAM at 45 nm (Horowitz 2014); no DRAM, no leakage."]
        if self.neuron == "pasc":
            notes.append("SNN IF: the same spikes on plain integrate-and-fire neurons, whose answers are not exact.")
        if self.simulation is not None:
            note = self.simulation["note"] and f": {self.simulation['note']}"
            notes.append(f"Simulated on the preset {self.simulation['preset']}, from recorded spikes{note}.")
        return notes


_QUANTITY = ("quantity", "per image")


def cost(
    model: nn.Module,
    batches: Any,
    accelerator: str | None = None,
    preset: str | Mapping[str, Any] = "pascal40",
    costs: Mapping[str, EnergyCosts] | None = None,
) -> Cost:
    """What `model` costs per image of `batches`: an ANN with QCFS activations, or an SNN of any engine and neuron.

    `accelerator="loas"` (or `"sparten"`, the ANN on its own machine) simulates the spikes that are really recorded;
    `costs` names other prices of operations than the paper's.
    """
    images = list(image_batches(batches)) if accelerator else batches  # one pass measures, another records
    counted = _Counted(images)
    workloads = tuple(measure(check_model(model), counted))
    neuron = model.neuron if isinstance(model, SpikingNetwork) else "pasc"
    prices = TABLES if costs is None else costs
    if neuron == "if":  # the paper's T_norm and T_eff are PASC's
        summary: dict[str, float] = {"timesteps": max(layer.timesteps for layer in workloads)}
    else:
        summary = energy_summary(workloads, {})
    return Cost(
        network=_name(model),
        images=counted.images,
        neuron=neuron,
        workloads=workloads,
        timesteps={name: summary[name] for name in _TIMESTEPS if name in summary},
        prices=prices,
        energy_pj={name: _energies(workloads, one, neuron) for name, one in prices.items()},
        simulation=_simulate(model, images, accelerator, preset) if accelerator else None,
    )


class _Counted:
    """Batches whose images are counted as they pass."""

    def __init__(self, batches: Any) -> None:
        self._batches, self.images = batches, 0

    def __iter__(self) -> Any:
        for images in image_batches(self._batches):
            self.images += len(images)
            yield images


def _name(model: nn.Module) -> str:
    return network_name(model.graph if isinstance(model, SpikingNetwork) else model)


def _energies(workloads: tuple[LayerWorkload, ...], prices: EnergyCosts, neuron: str) -> dict[str, float]:
    """Plain IF fires other spikes than the ANN has counts: it tells of itself and of the dense ANN alone."""
    told = ("SNN IF", "ANN") if neuron == "if" else None
    compared = networks_compared(workloads, prices)
    return {name: total_pj(layers) for name, layers in compared.items() if told is None or name in told}


def _simulate(model: nn.Module, images: list[Any], accelerator: str, preset: str | Mapping[str, Any]) -> dict[str, Any]:
    snn = model if isinstance(model, SpikingNetwork) else convert(model, engine="counts")
    neuron = snn.neuron if accelerator == "loas" else None
    return simulate(record(snn, images), accelerator, neuron, preset).summary()


def _simulated(summary: dict[str, Any] | None) -> list[tuple[str, str]]:
    if summary is None:
        return []
    machine = f"{summary['machine']}, {summary['neuron']}"
    return [
        (f"cycles on {machine}", si(summary["cycles"])),
        (f"latency on {machine}", f"{summary['latency_ms_per_image']:.3g} ms"),
        (f"energy on {machine}, with DRAM", f"{summary['energy_uj_per_image']:.3g} µJ"),
        (f"energy on {machine}, on chip", f"{summary['energy_uj_per_image_without_dram']:.3g} µJ"),
    ]


def _beside(energies: dict[str, float], network: str, own: str) -> tuple[str, str]:
    return f"{energies[network] * 1e-6:.4g} µJ", f"{energies[network] / energies[own]:.3f}"
