"""The PASC integrate-and-fire neuron: Algorithm 1, in its three phases, on integer spike counts.

Algorithm 2 is the same with one input timestep: an image is a train of one timestep.
"""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from pascal.checks import shown
from pascal.errors import PascalError
from pascal.neurons.qcfs import check_levels, check_step, check_values


@torch.no_grad()
def pasc_spikes(currents: Iterable[Tensor], step: Tensor | float, levels: int) -> Tensor:
    """Algorithm 1: weighted inputs of L_{n−1} timesteps in, an earliest-first spike train of L_n timesteps out.

    Shape: `currents` (L_{n−1}, ...), or any iterable of that many tensors → bool (levels, ...).
    """
    check_levels(levels)
    membrane, count, timesteps = integrate(currents, step)
    if membrane.is_floating_point() and not bool(membrane.isfinite().all()):
        raise PascalError("currents: got NaN or infinite values, expected finite numbers")
    count = settle(membrane, count, step, max(timesteps, levels) - 1)
    return emit(count, levels)


# Whether a neuron fires is kept as 0 or 1 in the membrane's own type: converting booleans costs more than the rest.


def integrate(currents: Iterable[Tensor], step: Tensor | float) -> tuple[Tensor, Tensor, int]:
    """Phase 1: integrate and fire on the incoming currents. Returns membrane, count and timesteps seen.

    Lines 3–10: mem(0) = θ*/2; mem(t) = mem(t−1) + X[t]; at mem ≥ θ* count a spike and subtract θ*.
    """
    membrane, timesteps = None, 0
    for current in each_current(currents):
        if membrane is None:
            own_step = step_like(step, current)
            membrane = torch.empty_like(current).copy_(half(own_step))
            fired, count = torch.empty_like(membrane), new_count(membrane)
        membrane += current
        torch.ge(membrane, own_step, out=fired)
        count += fired
        membrane.addcmul_(fired, own_step, value=-1)
        timesteps += 1
        del current  # its memory serves the next one
    if membrane is None:
        raise PascalError("currents: got 0 timesteps, expected at least 1")
    return membrane, count, timesteps


def each_current(currents: Iterable[Tensor]) -> Iterator[Tensor]:
    """The currents of each timestep, all of one shape."""
    if not isinstance(currents, Iterable) or isinstance(currents, str | type):
        raise PascalError(f"currents: got {shown(currents)}, expected a tensor (timesteps, …), or one tensor for each")
    first = None
    for current in currents:
        first = check_values(current, "currents", first)
        yield current
        del current  # its memory serves the next one


def settle(membrane: Tensor, count: Tensor, step: Tensor | float, timesteps: int) -> Tensor:
    """Phase 2: without input, fire excitatory and inhibitory spikes until the count is right. Consumes its arguments.

    Lines 11–20: at mem ≥ θ* count up and subtract θ*; at mem < 0 count down and add θ*.
    """
    step = step_like(step, membrane)
    excited, inhibited = torch.empty_like(membrane), torch.empty_like(membrane)
    for _ in range(timesteps):
        torch.ge(membrane, step, out=excited)
        torch.lt(membrane, 0, out=inhibited)
        if not (excited.sum() or inhibited.sum()):
            break  # without input, silence lasts
        spikes = excited.sub_(inhibited)
        count += spikes
        membrane.addcmul_(spikes, step, value=-1)
    return count


def emit(count: Tensor, levels: int) -> Tensor:
    """Phase 3: a new neuron that starts at mem = count fires until it is empty, over L_n timesteps.

    Lines 21–26. In units of θ* the membrane is an integer, so no spike is lost to rounding.
    """
    narrow = torch.int8 if levels <= 127 else torch.int32
    membrane = count.clamp(0, levels).to(narrow)  # beyond these nothing is emitted, or no more
    spikes = new_train(levels, membrane)
    for fired in spikes:
        torch.ge(membrane, 1, out=fired)
        membrane -= fired
    return spikes.to(torch.int8).view(torch.bool)


def new_count(membrane: Tensor) -> Tensor:
    """Zeros that count exactly: in float32 or wider up to 2²⁴."""
    wide = membrane.dtype if membrane.element_size() >= 4 else torch.float32
    return torch.zeros_like(membrane, dtype=wide)


def new_train(timesteps: int, like: Tensor) -> Tensor:
    """An empty train whose timesteps lie in memory as `like` does, so that layers read them without reordering."""
    like = torch.empty_like(like)  # dense, whatever `like` is a view of
    return torch.empty_strided(
        (timesteps, *like.shape), (like.numel(), *like.stride()), dtype=like.dtype, device=like.device
    )


def step_like(step: Tensor | float, current: Tensor, name: str = "step") -> Tensor:
    """A positive step in the currents' own arithmetic, so that no product is rounded to another type."""
    own = torch.as_tensor(check_step(step, name, current), device=current.device)
    if own.dtype.is_floating_point and not current.dtype.is_floating_point:
        raise PascalError(f"{name}: got {own.flatten()[:8].tolist()}; integer currents need an even integer {name}")
    return torch.as_tensor(step, dtype=current.dtype, device=current.device)


def half(step: Tensor) -> Tensor:
    """Half a step, where the membrane starts; an odd integer step has none."""
    if step.dtype.is_floating_point:
        return step / 2
    if bool((step % 2 != 0).any()):
        raise PascalError(f"step: got {step.flatten()[:8].tolist()}; integer currents need an even integer step")
    return step // 2
