"""The plain IF network's accuracy at every number of timesteps, from one run at the largest."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm


@torch.inference_mode()
def plain_accuracies(
    snn: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], timesteps: Sequence[int]
) -> list[dict[str, Any]]:
    """One row for each of `timesteps`."""
    correct, images = dict.fromkeys(sorted(timesteps), 0), 0
    for pixels, labels in tqdm(batches, "plain IF", leave=False, disable=None):
        logits = snn.logits_over_time(pixels)  # type: ignore[operator]
        images += len(labels)
        for timestep in correct:
            correct[timestep] += int((logits[timestep - 1].argmax(1) == labels).sum())
    return [{"timesteps": t, "accuracy": right / images, "images": images} for t, right in correct.items()]
