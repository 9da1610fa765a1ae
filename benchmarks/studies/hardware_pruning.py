"""Magnitude pruning of a trained VGG-16: its accuracy, and what it then costs on machines that skip zero weights.

`python -m benchmarks.studies.hardware_pruning ANN.safetensors OUT --width 0.25 --data FOLDER --images 64` writes into
OUT `hardware_pruning.csv` and `hardware_pruning.png`. Nothing is retrained: batch-norm statistics are estimated again
from training images, without labels, and the spikes are those of the pruned networks themselves.
"""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from tqdm import tqdm

from benchmarks.studies.hardware_pruning_figure import pruning_figure
from benchmarks.studies.hardware_trained import Batches, chosen_batches, load_network, parser, record, weight_density
from pascal.data import evaluation_batches, load_dataset, sample
from pascal.graph import convert, get_levels
from pascal.hardware import compare_machines, prune_weights
from pascal.report.style import save_figure
from pascal.training import evaluate

DENSITIES = (1.0, 0.5, 0.25, 0.125, 0.05)
RATIOS = {
    "PASC / IF energy, on-chip dynamic": "pasc_over_if_on_chip_dynamic",
    "PASC / IF energy, with DRAM": "pasc_over_if_with_dram",
    "PASC / IF latency, blocking": "pasc_over_if_latency_blocking",
    "PASC / IF latency, pipelined": "pasc_over_if_latency_pipelined",
    "ANN / SNN (PASC) energy, on-chip dynamic": "ann_over_snn_on_chip_dynamic",
    "ANN / SNN (PASC) energy, with DRAM": "ann_over_snn_with_dram",
}
MACHINES = {"pasc blocking": "pasc", "if blocking": "if", "ann": "ann"}


def main() -> None:
    """Prune, evaluate, simulate, write, draw."""
    own = parser(__doc__)
    own.add_argument("--test-images", type=int, default=2000, help="behind the accuracies")
    own.add_argument("--training-images", type=int, default=2000, help="behind the batch-norm statistics")
    options = own.parse_args()
    torch.set_num_threads(1)
    table = pd.DataFrame(sweep(load_network(options.weights, options.width), options))
    options.out.mkdir(parents=True, exist_ok=True)
    table.to_csv(options.out / "hardware_pruning.csv", index=False, float_format="%.6g")
    save_figure(pruning_figure(table), options.out / "hardware_pruning")
    print(table.T.to_string())


def sweep(ann: nn.Module, options: Any) -> list[dict[str, Any]]:
    """One row for each density."""
    spiking, tested = chosen_batches(options.data, options.images), chosen_batches(options.data, options.test_images)
    training = training_batches(options.data, options.training_images)
    rows = []
    for density in tqdm(DENSITIES, unit="density"):
        pruned = prune(ann, density)
        as_pruned = evaluate(convert(pruned, engine="counts"), tested).accuracy
        estimate_statistics(pruned, training)
        row = {"weight_density": density, "accuracy_as_pruned": as_pruned, **accuracies(pruned, tested)}
        conditions = {"test_images": options.test_images, "training_images": options.training_images}
        rows.append(row | conditions | costs(pruned, spiking))
    return rows


def training_batches(data: Path, images: int) -> Batches:
    """Training images without augmentation."""
    dataset = load_dataset("cifar10", data, download=False)
    return list(evaluation_batches(dataset, sample(dataset.train, images), 100))


def prune(ann: nn.Module, density: float) -> nn.Module:
    """A copy whose layers keep the share of weights that are largest in units of their own filter's largest.

    INT8 weights have one scale per filter, so this is the order of `prune_trace`, and batch norm does not change it.
    """
    pruned = deepcopy(ann)
    for module in pruned.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            weight = module.weight.data
            scale = weight.abs().flatten(1).amax(1).view(-1, *[1] * (weight.dim() - 1))
            kept = prune_weights((weight / scale).numpy(), density) != 0
            module.weight.data = weight * torch.from_numpy(kept)
    return pruned


@torch.no_grad()
def estimate_statistics(network: nn.Module, batches: Batches) -> None:
    """Means and variances of batch norm, from these images alone."""
    for module in network.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            module.momentum = None  # the plain average over batches
            module.train()
    for pixels, _ in batches:
        network(pixels)
    network.eval()


def accuracies(ann: nn.Module, batches: Batches) -> dict[str, float]:
    """Of PASC, which are the ANN's, and of plain IF at T = L."""
    plain = convert(ann, neuron="if", timesteps=max(get_levels(ann).values()))
    pasc = convert(ann, engine="counts")
    return {"accuracy": evaluate(pasc, batches).accuracy, "if_accuracy": evaluate(plain, batches).accuracy}


def costs(ann: nn.Module, batches: Batches) -> dict[str, Any]:
    """Energy and latency of each machine and their ratios, on `pascal40`."""
    traces = record(ann, batches)
    rows, runs = compare_machines(traces["pasc"], traces["own"])
    same, _ = compare_machines(traces["pasc"], traces["as PASC"])
    row: dict[str, Any] = {"int8_density": weight_density(traces["pasc"])}
    for run, name in MACHINES.items():
        row |= _machine(name, runs[run].summary())
    row["pasc_pipelined_ms"] = runs["pasc pipelined"].latency_s * 1e3
    row |= ratios(rows) | ratios([row for row in same if row["quantity"].startswith("PASC")], "_same_spikes")
    return row | {"preset": rows[0]["preset"], "pes": rows[0]["pes"], "images": rows[0]["images"]}


def _machine(name: str, summary: dict[str, Any]) -> dict[str, float]:
    return {
        f"{name}_joint_density": summary["joint_density"],
        f"{name}_uj": summary["energy_uj_per_image"],
        f"{name}_uj_without_dram": summary["energy_uj_per_image_without_dram"],
        f"{name}_ms": summary["latency_ms_per_image"],
    }


def ratios(rows: Sequence[dict[str, Any]], suffix: str = "") -> dict[str, float]:
    """The ratios worth following, by column."""
    return {RATIOS[row["quantity"]] + suffix: row["measured"] for row in rows if row["quantity"] in RATIOS}


if __name__ == "__main__":
    main()
