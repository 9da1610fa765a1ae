"""Checkpoints that other people trained, mapped onto our networks (weights only; nothing is unpickled).

`python -m tests.checkpoints OUT.safetensors` writes the QCFS ResNet-20 as a file that `pascal verify` reads.
"""

import os
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import pascal

QCFS_RESNET20 = "qcfs_resnet20_cifar10_L8.pth"
RELU_RESNET20 = "relu_resnet20_cifar10.pth"
QCFS_MEAN, QCFS_STD = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)


def checkpoint_path(name: str) -> Path:
    """The checkpoint's path, or a skip that says which folder is missing."""
    folder = os.environ.get("PASCAL_CHECKPOINTS")
    if not folder or not (Path(folder) / name).is_file():
        pytest.skip(f"{name} is not in PASCAL_CHECKPOINTS ({folder})")
    return Path(folder) / name


def data_root() -> Path:
    """The folder with CIFAR-10 in torchvision's layout, or a skip."""
    root = os.environ.get("PASCAL_DATA")
    if not root or not (Path(root) / "cifar-10-batches-py").is_dir():
        pytest.skip(f"CIFAR-10 is not in PASCAL_DATA ({root})")
    return Path(root)


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
    assert not unexpected
    assert all(name.endswith(("raw_threshold", "_extra_state")) for name in missing), missing
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
    ann = load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20))
    save_file({name: value.contiguous() for name, value in ann.state_dict().items()}, sys.argv[1])
