"""A trained VGG-16 on the simulated machines, with the spikes of real CIFAR-10 test images, beside the paper's ratios.

`python -m benchmarks.studies.hardware_trained ANN.safetensors OUT --width 0.25 --data FOLDER --images 64` writes into
OUT `hardware_trained.csv` (ratios), `hardware_trained_machines.csv` (joules and seconds) and
`hardware_trained_layers.csv` (densities). Rows of width 1 have the full-width network's shapes and random masks of the
densities measured.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from pascal.data import evaluation_batches, load_dataset, sample
from pascal.files import read_tensors
from pascal.graph import convert, get_levels, layer_shapes, measure
from pascal.graph.arrivals import Arrivals, record_counts, record_words
from pascal.hardware import Simulation, Trace, compare_machines, network_trace
from pascal.hardware.energy import COMPONENTS
from pascal.networks import build_network
from pascal.recording import pack
from pascal.workload import LayerWorkload

PRESETS = ("pascal40", "h1", "loas32")
Batches = Sequence[tuple[Tensor, Tensor]]
Traces = dict[str, Trace]


def main() -> None:
    """Record, simulate, write."""
    own = parser(__doc__)
    own.add_argument("--masks", type=int, default=4, help="random images of the full-width network")
    options = own.parse_args()
    torch.set_num_threads(1)
    traces = record(load_network(options.weights, options.width), chosen_batches(options.data, options.images))
    ratios, machines = tables(traces, options.width, options.masks)
    layers = pd.DataFrame(densities(traces))
    options.out.mkdir(parents=True, exist_ok=True)
    for name, table in (("", ratios), ("_machines", machines), ("_layers", layers)):
        table.to_csv(options.out / f"hardware_trained{name}.csv", index=False, float_format="%.6g")
    shown = ["width", "if_spikes", "preset", "quantity", "measured", "low", "high", "reported"]
    print(ratios[shown].to_string(index=False, float_format="%.4f"))


def parser(description: str | None) -> argparse.ArgumentParser:
    """What every benchmark of a trained network asks for."""
    own = argparse.ArgumentParser(description=description)
    own.add_argument("weights", type=Path, help="the trained network's safetensors file")
    own.add_argument("out", type=Path, help="folder for the tables")
    own.add_argument("--width", type=float, default=1.0, help="width multiplier of the network")
    own.add_argument("--data", type=Path, default=Path("data"), help="folder with CIFAR-10")
    own.add_argument("--images", type=int, default=64, help="test images whose spikes are recorded")
    return own


def load_network(weights: Path, width: float) -> nn.Module:
    """The trained VGG-16 with its own levels, in evaluation mode."""
    ann = build_network("vgg16", width=width)
    ann.load_state_dict(read_tensors(weights))
    return ann.eval()


def chosen_batches(data: Path, images: int, batch_size: int = 64) -> Batches:
    """Test images chosen at random, always the same ones."""
    dataset = load_dataset("cifar10", data, download=False)
    return list(evaluation_batches(dataset, sample(dataset.test, images), batch_size))


def record(ann: nn.Module, batches: Batches) -> Traces:
    """Traces of PASC, of plain IF with T = L, and of PASC's own spikes as words, which an IF machine can run."""
    ann = deepcopy(ann).double()  # in which SNN and ANN agree on every neuron
    timesteps = max(get_levels(ann).values())
    images = torch.cat([pixels for pixels, _ in batches]).double()
    pasc, plain = convert(ann), convert(ann, neuron="if", timesteps=timesteps)
    counts = [with_spikes(layer) for layer in record_counts(pasc, measure(pasc, [images]), images)]
    recorded = {
        "pasc": counts,
        "own": [with_spikes(layer) for layer in record_words(plain, measure(plain, [images]), images)],
        "as PASC": [as_words(layer, timesteps) for layer in counts],
    }
    return {name: network_trace(pack(layers)) for name, layers in recorded.items()}


def as_words(layer: Arrivals, timesteps: int) -> Arrivals:
    """PASC's trains are earliest-first: c spikes are the word 2^c − 1."""
    words = None if layer.spikes is None else (np.uint32(1) << layer.spikes.astype(np.uint32)) - np.uint32(1)
    return replace(layer, spikes=words, timesteps=timesteps)


def with_spikes(layer: Arrivals) -> Arrivals:
    """Spikes as the machine sees them: it pools plain trains at each timestep, where `measure` pools their sums."""
    workload, spikes = layer.workload, layer.spikes
    if spikes is None or not workload.nonzero_macs:
        return layer
    active = spikes[spikes > 0]
    mean = float((active if layer.timesteps is None else np.bitwise_count(active)).mean())
    return replace(layer, workload=replace(workload, synaptic_operations=mean * workload.nonzero_macs))


def tables(traces: Traces, width: float, masks: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ratios and machines, for each preset, width and source of the plain IF network's spikes."""
    ratios, machines = [], []
    for preset in PRESETS:
        for spikes in ("own", "as PASC"):
            recorded = compare_machines(traces["pasc"], traces[spikes], preset, progress=True)
            wide = [widened(traces[name].workloads) for name in ("pasc", spikes)]
            density = weight_density(traces["pasc"])
            drawn = compare_machines(*wide, preset, images=masks, weight_density=density, progress=True)
            for own_width, (rows, runs) in ((width, recorded), (1.0, drawn)):
                ratios += [{"width": own_width, "if_spikes": spikes} | row for row in rows]
                machines += [{"width": own_width} | machine_row(run, spikes) for run in runs.values()]
    return pd.DataFrame(ratios), pd.DataFrame(machines).drop_duplicates(ignore_index=True)


def widened(workloads: Iterable[LayerWorkload]) -> list[LayerWorkload]:
    """The full-width network's layers with the densities of these."""
    with torch.device("meta"):
        shapes = layer_shapes(build_network("vgg16"), (3, 32, 32))
    return [_with_densities(wide, narrow) for wide, narrow in zip(shapes, workloads, strict=True)]


def _with_densities(wide: LayerWorkload, narrow: LayerWorkload) -> LayerWorkload:
    names = ("producer_levels", "levels", "producer_spikes_per_neuron", "spikes_per_neuron")
    means = {name: getattr(narrow, name) for name in names}
    sums = {name: getattr(narrow, name) for name in ("nonzero_macs", "synaptic_operations")}
    scale = wide.macs / narrow.macs
    return replace(wide, **means, **{name: None if total is None else total * scale for name, total in sums.items()})


def weight_density(trace: Trace) -> float:
    """Share of INT8 weights that are not zero, each weighed by the multiplications that read it."""
    macs = sum(layer.workload.macs for layer in trace.layers)
    return sum(float((layer.weights != 0).mean()) * layer.workload.macs for layer in trace.layers) / macs


def machine_row(run: Simulation, if_spikes: str) -> dict[str, Any]:
    """What one machine needs per image and, as the paper sums, per 10,000 images."""
    row = run.summary() | {"if_spikes": if_spikes if run.neuron == "if" else ""}
    conditions = (
        "preset",
        "machine",
        "neuron",
        "if_spikes",
        "overlap",
        "masks",
        "images",
        "pes",
        "memory",
        "joint_density",
    )
    figures = ("utilisation", *(name for name in row if name.startswith(("latency", "energy"))))
    parts = {f"{part}_uj_per_image": row[f"{part}_pj"] * 1e-6 for part in COMPONENTS}
    return {name: row[name] for name in (*conditions, *figures)} | parts


def densities(traces: Traces) -> Iterator[dict[str, Any]]:
    """Per layer: weights that are not zero, inputs that are not silent, and the spikes of those."""
    for pasc, plain in zip(traces["pasc"].layers, traces["own"].layers, strict=True):
        row = {"path": pasc.path, "macs": pasc.workload.macs, "weight_density": float((pasc.weights != 0).mean())}
        for name, own in (("pasc", pasc.workload), ("if", plain.workload)):
            spiking = own.nonzero_macs if own.producer_levels else None
            row[f"{name}_density"] = spiking / own.macs if spiking is not None else None
            row[f"{name}_spikes"] = own.synaptic_operations / spiking if spiking else None
        yield row


if __name__ == "__main__":
    main()
