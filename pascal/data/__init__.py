"""Data sets by name, and their batches: augmented on the model's device, reproducible from (seed, epoch, step)."""

from pascal.data.augment import Augmentation
from pascal.data.batches import evaluation_batches, sample, training_batches
from pascal.data.datasets import DATASETS, describe, load_dataset
from pascal.data.records import Dataset, Files, Images

__all__ = [
    "DATASETS",
    "Augmentation",
    "Dataset",
    "Files",
    "Images",
    "describe",
    "evaluation_batches",
    "load_dataset",
    "sample",
    "training_batches",
]
