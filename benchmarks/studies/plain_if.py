"""The vanilla SNN of QCFS beside PASC: accuracy of plain IF neurons after each timestep, in one run.

`python -m benchmarks.studies.plain_if OUT.csv` reads the QCFS ResNet-20 from PASCAL_CHECKPOINTS and CIFAR-10 from
PASCAL_DATA.
"""

import argparse
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor
from tqdm import tqdm

import pascal
from benchmarks.checkpoints import QCFS_RESNET20, checkpoint_path, load_qcfs_resnet20
from benchmarks.studies.certificate import cifar10_test


def main() -> None:
    """Count, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--timesteps", type=int, default=32)
    arguments = parser.parse_args()
    images, labels = cifar10_test(arguments.images)
    table = pd.DataFrame(accuracies(images, labels, arguments.timesteps))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(arguments.out, index=False)
    print(table.to_string(index=False))


@torch.no_grad()
def accuracies(images: Tensor, labels: Tensor, timesteps: int) -> list[dict[str, object]]:
    """One row for each timestep of plain IF, one for PASC and one for the ANN."""
    ann = load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20))
    plain = pascal.convert(ann, neuron="if", timesteps=timesteps)
    pasc = pascal.convert(ann, engine="counts")
    correct = torch.zeros(timesteps, dtype=torch.int64)
    exact = trained = 0
    for batch, truth in tqdm(list(zip(images.split(20), labels.split(20), strict=True)), desc="plain IF"):
        correct += (plain.logits_over_time(batch).argmax(-1) == truth).sum(1)
        exact += int((pasc(batch).argmax(1) == truth).sum())
        trained += int((ann(batch).argmax(1) == truth).sum())
    rows = [("plain IF", timestep, int(hits)) for timestep, hits in enumerate(correct, start=1)]
    rows += [("PASC", 8, exact), ("ANN", 1, trained)]
    names = ("neuron", "timesteps", "correct")
    return [{**dict(zip(names, row, strict=True)), "images": len(labels)} for row in rows]


if __name__ == "__main__":
    main()
