"""The plain integrate-and-fire neuron with soft reset: the vanilla SNN of QCFS, without PASC's correction."""

from collections.abc import Iterable

import torch
from torch import Tensor

from pascal.errors import PascalError
from pascal.neurons.pasc import each_current, half, new_train, step_like
from pascal.neurons.qcfs import check_values


@torch.no_grad()
def if_spikes(currents: Iterable[Tensor], threshold: Tensor | float, start: Tensor | None = None) -> Tensor:
    """mem(0) = θ/2, or `start`; mem(t) = mem(t−1) + X[t]; at mem ≥ θ fire and subtract θ.

    Shape: `currents` (T, ...), or any iterable of T tensors → bool (T, ...).
    """
    membrane, train = None, []
    for current in each_current(currents):
        if membrane is None:
            own_threshold = step_like(threshold, current, "threshold")
            first = half(own_threshold) if start is None else check_start(start, current)
            membrane = torch.empty_like(current).copy_(first)
            fired = torch.empty_like(membrane)
        membrane += current
        torch.ge(membrane, own_threshold, out=fired)
        membrane.addcmul_(fired, own_threshold, value=-1)
        train.append(fired.to(torch.bool))
    if membrane is not None and membrane.is_floating_point() and not bool(membrane.isfinite().all()):
        raise PascalError("currents: got NaN or infinite values, expected finite numbers")
    if not train:
        raise PascalError("currents: got 0 timesteps, expected at least 1")
    spikes = new_train(len(train), train[0])
    for timestep, fired in enumerate(train):
        spikes[timestep] = fired
    return spikes


def check_start(start: Tensor, current: Tensor) -> Tensor:
    """Where membranes start, if they can."""
    start = check_values(start, "start")
    if start.ndim > 0:
        check_values(start, "start", current)
    return start
