"""Checkpoints that other people trained, mapped onto our networks (weights only; nothing is unpickled).

`python -m benchmarks.checkpoints OUT.safetensors` writes the QCFS ResNet-20 as a file that `pascal verify` reads.
"""

import os
import sys
from pathlib import Path

import torch
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
    state = {}
    for key, value in torch.load(path, weights_only=True, map_location="cpu").items():
        if key.endswith(".thresh"):
            layer = ann.get_submodule(_our_name(key.removesuffix(".thresh")))
            layer.threshold = value.reshape(())
        else:
            module, _, name = key.rpartition(".")
            state[f"{_our_name(module)}.{name}"] = value
    missing, unexpected = ann.load_state_dict(state, strict=False)
    unknown = [*unexpected, *(name for name in missing if not name.endswith(("raw_threshold", "_extra_state")))]
    if unknown:
        raise PascalError(f"{path}: {unknown} do not fit; expected the weights of QCFS's ResNet-20")
    return ann.eval()


_IN_BLOCK = {
    "residual_function.0": "conv1",
    "residual_function.1": "bn1",
    "residual_function.2": "act1",
    "residual_function.3": "conv2",
    "residual_function.4": "bn2",
    "act": "act2",
    "shortcut.0": "shortcut.0",
    "shortcut.1": "shortcut.1",
}


def _our_name(theirs: str) -> str:
    if theirs.startswith("conv1."):
        return {"conv1.0": "stem.conv", "conv1.1": "stem.bn", "conv1.2": "stem.act"}[theirs]
    if theirs == "fc":
        return "fc"
    stage, block, rest = theirs.split(".", 2)
    return f"layer{int(stage[4]) - 1}.{block}.{_IN_BLOCK[rest]}"


if __name__ == "__main__":
    write_tensors(sys.argv[1], weights(load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20))))
