"""Any network with other neurons than PASC: time is folded into the batch, and each neuron unfolds it.

Between neurons every call sees (timesteps · N, ...), so branches, concatenations and poolings need no care of ours.
In QCFS's units image and constants arrive at every timestep and the answer is a mean; in PASC's they arrive once in
all, spread over `arrival` timesteps, and the answer is a sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.graph.convert import trained_graph
from pascal.graph.images import check_images
from pascal.graph.operations import call_name
from pascal.graph.timesteps import count_timesteps, maxima_of_spikes
from pascal.graph.trace import module_of, neuron_nodes
from pascal.inference import in_arithmetic_of
from pascal.neurons import QCFS
from pascal.neurons.channels import along_channels
from pascal.neurons.modules import SpikingNeuron


@dataclass(frozen=True)
class Outcome:
    """The answer after each timestep (T, N, classes), or the one there is; spikes by layer (T, N, ...), and those that
    were spent before the first timestep."""

    logits: Tensor
    trains: dict[str, Tensor]
    before: dict[str, Tensor] = field(default_factory=dict)
    lasts: Tensor | None = None  # (N) the last timestep of each image, where it is its own


class Neuron(SpikingNeuron):
    """A neuron of a rival method: currents of all timesteps in, spikes of all timesteps out; `fire` is its own.

    Shape: (timesteps · N, ...) → the same, spikes times what each is worth.
    """

    timesteps = 1  # of the run under way
    idle: Tensor | None = None  # what arrives without image and spikes, where that must not repeat at every timestep
    spikes: Tensor

    def __init__(self, qcfs: QCFS, whole_threshold: bool) -> None:
        super().__init__((qcfs.threshold if whole_threshold else qcfs.step).detach().clone())
        self.levels, self.whole_threshold = qcfs.levels, whole_threshold

    def fire(self, currents: Tensor, step: Tensor) -> Tensor:
        """Spikes (timesteps, N, ...): booleans, or whole numbers of signed or graded spikes; `step` broadcasts."""
        raise NotImplementedError

    def worth(self, spikes: Tensor) -> Tensor:
        """What the spikes hand on."""
        return spikes.to(self.step.dtype) * along_channels(self.step, spikes[0])

    def units(self, spikes: Tensor, since: int = 0, until: int | None = None) -> Tensor:
        """What the spikes of a train (T, N, ...) add up to between two timesteps, in units of one."""
        part = spikes[since:until]
        if len(part) > 127 or part.dtype == torch.int32:
            return part.sum(0, dtype=torch.int32)
        total = torch.zeros_like(spikes[0], dtype=torch.int8)
        for fired in part.view(torch.int8):
            total += fired  # eight times as fast as a sum of booleans
        return total.to(torch.int32)

    def differs(self, units: Tensor, level: Tensor, timesteps: int) -> Tensor:
        """Which neurons do not stand for the ANN's level: units, or in QCFS's units count / T, are to be it."""
        if self.whole_threshold:
            return units * self.levels != level * timesteps
        return units != level

    def forward(self, merged: Tensor) -> Tensor:
        currents = merged.unflatten(0, (self.timesteps, -1))
        if self.idle is not None:
            currents = currents + self.idle
        self.spikes = self.fire(currents, along_channels(self.step, merged))
        return self.worth(self.spikes).flatten(0, 1)


class TimedNetwork(nn.Module):
    """A network of rival neurons, made from a trained ANN."""

    def __init__(
        self, ann: nn.Module, neuron: Callable[[QCFS], Neuron], arrival: int | None = None, maxima: bool = True
    ) -> None:
        super().__init__()
        self.arrival = arrival  # None: QCFS's units
        self.graph = trained_graph(ann)
        self.graph.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # half the time
        self.edges = count_timesteps(self.graph, any_maxima=True)
        self.inexact = maxima_of_spikes(self.graph, self.edges)
        if self.inexact and not maxima:
            raise PascalError(
                f"{self.inexact[0]}: a maximum over spikes of this method is not that of its values; "
                "use a network with average pooling"
            )
        self.neurons: dict[str, Any] = {}  # each a Neuron of the method
        for node, qcfs in list(neuron_nodes(self.graph)):
            self.neurons[str(node.target)] = neuron(qcfs)
            self.graph.set_submodule(str(node.target), self.neurons[str(node.target)])

    @torch.no_grad()
    def run(self, images: Tensor, timesteps: int) -> Outcome:
        """Simulate so many timesteps."""
        images = in_arithmetic_of(self.graph, images)
        check_images(images, self.graph)
        if timesteps < 1:
            raise PascalError(f"timesteps: got {timesteps}, expected at least 1")
        if images.ndim == 4:
            images = images.contiguous(memory_format=torch.channels_last)
        if self.arrival is None:
            readout = self._forward(images.repeat(timesteps, *(1,) * (images.ndim - 1)), timesteps)
            passed = torch.arange(1, timesteps + 1, device=readout.device, dtype=readout.dtype)
            logits = readout.cumsum(0) / passed.view(-1, *(1,) * (readout.ndim - 1))
        else:
            logits = self._arrive_once(images, timesteps, self.arrival).cumsum(0)
        return Outcome(logits, {path: neuron.spikes for path, neuron in self.neurons.items()})

    def _forward(self, merged: Tensor, timesteps: int) -> Tensor:
        for neuron in self.neurons.values():
            neuron.timesteps = timesteps
        return self.graph(merged).unflatten(0, (timesteps, -1))

    def _arrive_once(self, images: Tensor, timesteps: int, arrival: int) -> Tensor:
        """Every call adds its constants at each timestep; what is too much is taken away where currents are summed."""
        if timesteps == arrival == 1:
            return self._forward(images, 1)
        shares = torch.zeros(timesteps, dtype=images.dtype, device=images.device)
        shares[:arrival] = 1 / arrival
        constants = self._constants(torch.zeros_like(images[:1]))
        for path, neuron in self.neurons.items():
            neuron.idle = _over_time(shares - 1, constants[path]) * constants[path]
        merged = (_over_time(shares, images) * images).flatten(0, 1)
        readout = self._forward(merged, timesteps)
        return readout + _over_time(shares - 1, constants[""]) * constants[""]

    def _constants(self, darkness: Tensor) -> dict[str, Tensor]:
        """What arrives at each neuron, and at the readout (''), when nothing is seen and nobody fires."""
        arriving: dict[str, Tensor] = {}

        def silent(path: str) -> Callable[..., Tensor]:
            def record(module: nn.Module, inputs: tuple[Tensor], output: Tensor) -> Tensor:
                arriving[path] = inputs[0]
                return torch.zeros_like(inputs[0])

            return record

        hooks = [neuron.register_forward_hook(silent(path)) for path, neuron in self.neurons.items()]
        for neuron in self.neurons.values():
            neuron.idle = None
        try:
            arriving[""] = self._forward(darkness, 1)[0]
        finally:
            for hook in hooks:
                hook.remove()
        return arriving

    def mismatches(
        self, levels: dict[str, Tensor], trains: dict[str, Tensor], counted: Sequence[int]
    ) -> list[dict[str, int]]:
        """After each of these timesteps, by layer, how many neurons do not stand for the ANN's level."""
        wrong: list[dict[str, int]] = [{} for _ in counted]
        for path, neuron in self.neurons.items():
            units = torch.zeros_like(levels[path], dtype=torch.int32)
            for after, found, since in zip(counted, wrong, (0, *counted), strict=False):
                units += neuron.units(trains[path], since, after)
                found[path] = int(neuron.differs(units, levels[path], after).sum())
        return wrong

    def longest_path(self, timesteps: Callable[[int | None, int], float]) -> float:
        """The sum over the layers of the deepest branch; each takes what its producer's levels and its own say."""
        done: dict[str, tuple[float, int]] = {}
        for node in self.graph.graph.nodes:
            if node.op != "call_module" or str(node.target) not in self.neurons:
                continue
            own = self.neurons[str(node.target)].levels
            before = [done[producer] for producer in self.edges[node.all_input_nodes[0]].producers]
            finished = max((end for end, _ in before), default=0.0)
            producer = max((levels for _, levels in before), default=None)
            done[str(node.target)] = (finished + timesteps(producer, own), own)
        return max(end for end, _ in done.values())

    @property
    def depth(self) -> int:
        """Layers of neurons on the deepest branch."""
        return int(self.longest_path(lambda producer, own: 1))

    @property
    def pooling(self) -> str:
        """How spikes are pooled between neurons: "max", "average", both, or "none"; the last, global one aside."""
        calls = [node for node, edge in self.edges.items() if edge.producers and self._feeds_neurons(node)]
        names = " ".join(call_name(node, module_of(self.graph, node)) for node in calls).lower().replace("_", "")
        kinds = [kind for kind, name in (("max", "maxpool"), ("average", "avgpool")) if name in names]
        return " and ".join(kinds) or "none"

    def _feeds_neurons(self, node: Any) -> bool:
        """Whether neurons stand behind a call."""
        behind, seen = [*node.users], set()
        while behind:
            user = behind.pop()
            if str(user.target) in self.neurons:
                return True
            if user not in seen:
                seen.add(user)
                behind += user.users
        return False

    @property
    def largest_levels(self) -> int:
        """L of the finest layer."""
        return max(neuron.levels for neuron in self.neurons.values())


def _over_time(shares: Tensor, like: Tensor) -> Tensor:
    """A factor for each timestep, shaped to stand before (N, ...)."""
    return shares.view(-1, *(1,) * like.ndim)


def padded(train: Tensor, timesteps: int) -> Tensor:
    """The same train, silent to the end of so many timesteps."""
    if len(train) >= timesteps:
        return train
    return torch.cat([train, train.new_zeros(timesteps - len(train), *train.shape[1:])])
