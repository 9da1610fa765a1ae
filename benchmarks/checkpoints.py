"""Checkpoints that other people trained, mapped onto our networks (weights only; nothing is unpickled).

`python -m benchmarks.checkpoints OUT.safetensors` writes the QCFS ResNet-20 as a file that `pascal verify` reads.
"""

import os
import sys
from pathlib import Path

from torch import nn

import pascal
from pascal.errors import PascalError
from pascal.files import write_tensors
from pascal.training import weights

QCFS_RESNET20 = "qcfs_resnet20_cifar10_L8.pth"
RELU_RESNET20 = "relu_resnet20_cifar10.pth"
QCFS_MEAN, QCFS_STD = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)


def checkpoint_path(name: str) -> Path:
    """The checkpoint's path; says which folder is missing."""
    return _found("PASCAL_CHECKPOINTS", name)


def data_root() -> Path:
    """The folder with CIFAR-10 in torchvision's layout."""
    return _found("PASCAL_DATA", "cifar-10-batches-py").parent


def _found(variable: str, name: str) -> Path:
    folder = os.environ.get(variable)
    if not folder or not (Path(folder) / name).exists():
        raise PascalError(f"{variable}: got {folder}, expected a folder with {name}; set it to where {name} is")
    return Path(folder) / name


def load_qcfs_resnet20(path: Path) -> nn.Module:
    """The QCFS ResNet-20 (L=8), in evaluation mode."""
    ann = pascal.build_network("resnet20", levels=8)
    pascal.load_weights(ann, path)
    return ann.eval()


if __name__ == "__main__":
    write_tensors(sys.argv[1], weights(load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20))))
