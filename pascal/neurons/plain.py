"""The plain integrate-and-fire neuron with soft reset: the vanilla SNN of QCFS, without PASC's correction."""

from collections.abc import Iterable

import torch
from torch import Tensor

from pascal.errors import PascalError
from pascal.neurons.pasc import half, step_like


def if_spikes(currents: Iterable[Tensor], threshold: Tensor | float) -> Tensor:
    """mem(0) = θ/2; mem(t) = mem(t−1) + X[t]; at mem ≥ θ fire and subtract θ.

    Shape: `currents` (T, ...), or any iterable of T tensors → bool (T, ...).
    """
    membrane, spikes = None, []
    for current in currents:
        if membrane is None:
            threshold = step_like(threshold, current)
            membrane = half(threshold).expand_as(current).clone()
        membrane += current
        fired = membrane >= threshold
        membrane -= fired * threshold
        spikes.append(fired)
    if not spikes:
        raise PascalError("currents: got 0 timesteps, expected at least 1")
    return torch.stack(spikes)
