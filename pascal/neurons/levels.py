"""The QCFS layers of a network by path, and their levels: one number for all, a list in order, or a mapping by path."""

from collections.abc import Mapping, Sequence

from torch import nn

from pascal.errors import PascalError
from pascal.neurons.qcfs import QCFS, check_levels

Levels = int | Sequence[int] | Mapping[str, int]


def registered_layers(network: nn.Module) -> dict[str, QCFS]:
    """The QCFS layers by path, in the order of registration; `pascal.graph.qcfs_layers` has them in forward order."""
    return {path: module for path, module in network.named_modules() if isinstance(module, QCFS)}


def apply_levels(layers: Mapping[str, QCFS], levels: Levels) -> None:
    """Give each layer its levels; nothing changes unless all of them are right."""
    chosen = levels_by_name(list(layers), levels)
    for name, layer in layers.items():
        layer.levels = chosen.get(name, layer.levels)


def levels_by_name(names: Sequence[str], levels: Levels) -> dict[str, int]:
    """`levels` as a mapping, checked against the layers' names. A mapping may leave layers as they are."""
    if isinstance(levels, Mapping):
        unknown = [name for name in levels if name not in set(names)]
        if unknown:
            raise PascalError(f"levels name unknown layers {unknown}; the QCFS layers are {list(names)}")
        by_name = dict(levels)
    elif isinstance(levels, Sequence) and not isinstance(levels, str):
        if len(levels) != len(names):
            raise PascalError(
                f"levels: got a list of {len(levels)}, expected {len(names)}, one per QCFS layer: {list(names)}"
            )
        by_name = dict(zip(names, levels, strict=True))
    else:
        by_name = dict.fromkeys(names, levels)
    return {name: check_levels(value, f"levels of layer {name!r}") for name, value in by_name.items()}
