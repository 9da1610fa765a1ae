"""Which parts of the short schedule (docs/training.md) help, judged on validation images.

`python -m benchmarks.studies.short_schedule OUT.csv` trains VGG-16 at a quarter of the width with each variant,
a few epochs on some of CIFAR-10's training images; rows that OUT.csv has stay as they are. No test image is looked at.
"""

import argparse
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import process_time

import pandas as pd
import torch
from tqdm import tqdm

from pascal.data import Augmentation, Dataset, evaluation_batches, load_dataset, training_batches
from pascal.files import write_text
from pascal.networks import build_network
from pascal.neurons.levels import registered_layers
from pascal.training import TrainingConfig, train

SHORT = TrainingConfig(
    epochs=5, learning_rate=0.1, decay="linear", warmup_epochs=1, nesterov=True, decay_norms=False,
    decay_thresholds=False, label_smoothing=0.1, average=0.998, mixed_precision=True,
)  # fmt: skip
PAPER = replace(TrainingConfig(), epochs=5, mixed_precision=True)


@dataclass(frozen=True)
class Variant:
    """A schedule, and how its images are varied."""

    config: TrainingConfig
    cutout: int = 0


VARIANTS = {
    "the paper's, cut to these epochs": Variant(PAPER),
    "short": Variant(SHORT),
    "short, cosine decay": Variant(replace(SHORT, decay="cosine")),
    "short, plain momentum": Variant(replace(SHORT, nesterov=False)),
    "short, decay of norms and thresholds": Variant(replace(SHORT, decay_norms=True, decay_thresholds=True)),
    "short, no label smoothing": Variant(replace(SHORT, label_smoothing=0.0)),
    "short, last weights": Variant(replace(SHORT, average=0.0)),
    "short, no warm-up": Variant(replace(SHORT, warmup_epochs=0)),
    "short, learning rate 0.05": Variant(replace(SHORT, learning_rate=0.05)),
    "short, learning rate 0.2": Variant(replace(SHORT, learning_rate=0.2)),
    "short, Cutout of 8 pixels": Variant(SHORT, cutout=8),
}


def main() -> None:
    """Train what the table lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dataset = load_dataset("cifar10")
    some = replace(dataset, train=dataset.train.take(torch.arange(arguments.images)))
    rows = pd.read_csv(arguments.out).to_dict("records") if arguments.out.exists() else []
    wanted = [(name, seed) for seed in arguments.seeds for name in VARIANTS]
    done = {(row["variant"], row["seed"]) for row in rows}
    for name, seed in tqdm([key for key in wanted if key not in done], "schedules", disable=None):
        rows.append({"variant": name, "seed": seed, **trained(some, VARIANTS[name], seed)})
        write_text(arguments.out, pd.DataFrame(rows).to_csv(index=False, float_format="%.4f"))


def trained(dataset: Dataset, variant: Variant, seed: int) -> dict[str, float]:
    """One training: what became of it on the validation images."""
    torch.manual_seed(seed)
    network = build_network("vgg16", width=0.25, levels=4, pool="avg")
    for layer in registered_layers(network).values():
        layer.threshold = 2.0
    config = replace(variant.config, seed=seed)
    batches = training_batches(dataset, 128, Augmentation(cutout=variant.cutout), seed)
    validation, began = evaluation_batches(dataset, dataset.validation), process_time()
    last = [*train(network, batches, config, validation=validation, bar=False)][-1]
    facts = {key: asdict(last)[key] for key in ("epoch", "loss", "train_accuracy", "validation_accuracy")}
    return {"images": len(dataset.train), **facts, "cpu_seconds": process_time() - began}


if __name__ == "__main__":
    main()
