"""How many neurons of each layer reach each spike count, alone and beside the ANN's levels."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from pascal.graph import SpikingNetwork
from pascal.graph.observe import observe


def count_histograms(snn: SpikingNetwork, batches: Iterable[Any]) -> dict[str, list[int]]:
    """Neurons with count 0, 1, … L by layer, over all images."""
    totals: dict[str, Tensor] = {}
    for images, _ in batches:
        for path, counts in observe(snn, images).counts.items():
            found = torch.bincount(counts.flatten().long(), minlength=snn.levels[path] + 1)
            totals[path] = totals.get(path, torch.zeros_like(found)) + found
    return {path: total.tolist() for path, total in totals.items()}


def counts_beside(ann: nn.Module, snns: Mapping[str, SpikingNetwork], batches: Iterable[Any]) -> list[dict[str, Any]]:
    """Neurons for each pair of the ANN's level and an SNN's spike count, all layers and images together."""
    totals: Counter[tuple[str, int, int]] = Counter()
    for images, _ in batches:
        expected = observe(ann, images).counts
        for name, snn in snns.items():
            for path, counts in observe(snn, images).counts.items():
                pairs, neurons = (
                    torch.stack([expected[path].long(), counts.long()]).flatten(1).unique(dim=1, return_counts=True)
                )
                for level, count, found in zip(*pairs.tolist(), neurons.tolist(), strict=True):
                    totals[name, level, count] += found
    return [
        {"neuron": name, "ann_count": level, "snn_count": count, "neurons": found}
        for (name, level, count), found in sorted(totals.items())
    ]
