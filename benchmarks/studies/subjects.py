"""Trained networks that the studies of levels are made on, with their images."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

import pascal
from benchmarks.checkpoints import QCFS_MEAN, QCFS_RESNET20, QCFS_STD, checkpoint_path, load_qcfs_resnet20
from pascal.data import Dataset, evaluation_batches, load_dataset, sample
from pascal.data.records import Split
from pascal.files import read_tensors
from pascal.training import evaluate

VALIDATION = 5000  # of the training images, as the preset sets them aside
PUBLIC = "QCFS ResNet-20, L = 8"


@dataclass(frozen=True, eq=False)
class Subject:
    """A network with QCFS layers, and the data set it was trained on."""

    name: str
    ann: nn.Module
    dataset: Dataset

    def calibration(self, images: int, seed: int = 0) -> list[tuple[Tensor, Tensor]]:
        """Training images that a plan is made on; its labels are not looked at."""
        return list(evaluation_batches(self.dataset, sample(self.dataset.train, images, seed)))

    def accuracy(self, ann: nn.Module, images: int | None = None) -> float:
        """On test images, for the record; no choice depends on it."""
        return self.accuracy_on(ann, self.dataset.test if images is None else sample(self.dataset.test, images))

    def accuracy_on(self, ann: nn.Module, split: Split) -> float:
        """The share of a split that a network gets right."""
        return evaluate(ann, evaluation_batches(self.dataset, split, 100)).accuracy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which network; without `--weights` the public ResNet-20."""
    parser.add_argument("--weights", type=Path, help="a safetensors file; without one the public QCFS ResNet-20")
    parser.add_argument("--network", default="resnet20")
    parser.add_argument("--width", type=float, default=1.0)
    parser.add_argument("--pool", default="max")
    parser.add_argument("--images", type=int, default=1000, help="training images to plan on")
    parser.add_argument("--seed", type=int, default=0)


def open_subject(arguments: argparse.Namespace) -> Subject:
    """The network that the arguments name, on CIFAR-10 under PASCAL_DATA."""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    if arguments.weights is None:
        colours = {"mean": QCFS_MEAN, "std": QCFS_STD}
        ann, name = load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20)), PUBLIC
    else:
        ann, colours = _own(arguments), {}
        name = f"{arguments.network}, width {arguments.width:g}, {arguments.pool} pooling, L = {_levels(ann)}"
    return Subject(name, ann.eval(), load_dataset("cifar10", seed=0, validation=VALIDATION, **colours))


def _own(arguments: argparse.Namespace) -> nn.Module:
    ann = pascal.build_network(arguments.network, width=arguments.width, pool=arguments.pool)
    ann.load_state_dict(read_tensors(arguments.weights))
    return ann


def _levels(ann: nn.Module) -> str:
    return "/".join(map(str, sorted(set(pascal.get_levels(ann).values()))))
