"""What the engines are measured against: the fastest ReLU network, PASC as the paper writes it, SpikingJelly.

All of them come from the same ANN and have its layers and weights.
"""

import torch
from torch import Tensor, fx, nn

from pascal.graph.convert import trained_graph
from pascal.graph.folding import work_in_place
from pascal.graph.passes import separate_calls, share_constants
from pascal.graph.timesteps import count_timesteps
from pascal.graph.trace import neuron_nodes, trace


def relu_network(ann: nn.Module) -> nn.Module:
    """The ANN with ReLU: batch norm folded, channels last, additions and ReLUs in place."""
    network = trained_graph(ann)
    for node, _ in list(neuron_nodes(network)):
        network.set_submodule(str(node.target), nn.ReLU(inplace=True))
    work_in_place(network)
    return network.to(memory_format=torch.channels_last).eval()  # type: ignore[call-overload]


class PlainPASC(nn.Module):
    """Algorithm 1 line by line on a whole train of float currents.

    Shape: (timesteps_in · N, ...) → (levels · N, ...).
    """

    def __init__(self, step: float, levels: int, timesteps_in: int) -> None:
        super().__init__()
        self.step, self.levels, self.timesteps_in = step, levels, timesteps_in

    def forward(self, merged: Tensor) -> Tensor:
        currents = merged.unflatten(0, (self.timesteps_in, -1))
        membrane = torch.full_like(currents[0], self.step / 2)
        count = torch.zeros_like(membrane)
        for current in currents:
            membrane = membrane + current
            spikes = (membrane >= self.step).float()
            membrane = membrane - spikes * self.step
            count = count + spikes
        for _ in range(max(self.timesteps_in, self.levels) - 1):
            spikes = (membrane >= self.step).float() - (membrane < 0).float()
            membrane = membrane - spikes * self.step
            count = count + spikes
        train = []
        for _ in range(self.levels):
            spikes = (count >= 1).float()
            count = count - spikes
            train.append(spikes)
        return torch.cat(train) * self.step


class SummedReadout(nn.Module):
    """Runs a network on merged trains and sums its logits over time."""

    def __init__(self, network: fx.GraphModule, timesteps: int, repeats: int = 1) -> None:
        super().__init__()
        self.network, self.timesteps, self.repeats = network, timesteps, repeats

    def forward(self, images: Tensor) -> Tensor:
        merged = images.repeat(self.repeats, 1, 1, 1) if self.repeats > 1 else images
        return self.network(merged).unflatten(0, (self.timesteps, -1)).sum(0)


def plain_stepwise(ann: nn.Module) -> nn.Module:
    """The paper's method as it stands: trains of all timesteps through every layer, batch norm with shared constants.

    For networks whose layers have the same levels.
    """
    network = trace(ann).requires_grad_(False)
    separate_calls(network)
    edges = count_timesteps(network)
    share_constants(network, edges)
    for node, qcfs in list(neuron_nodes(network)):
        timesteps_in = edges[node.all_input_nodes[0]].timesteps
        network.set_submodule(str(node.target), PlainPASC(float(qcfs.step), qcfs.levels, timesteps_in))
    output = next(iter(network.graph.find_nodes(op="output"))).args[0]
    return SummedReadout(network, edges[output].timesteps).eval()  # type: ignore[index]


class SpikingJellyIF(nn.Module):
    """SpikingJelly's multi-step IF neuron with soft reset and a membrane that starts at half its threshold.

    Shape: (timesteps · N, ...) → the same.
    """

    def __init__(self, threshold: float, timesteps: int) -> None:
        super().__init__()
        from spikingjelly.activation_based.neuron import IFNode

        self.threshold, self.timesteps = threshold, timesteps
        self.neuron = IFNode(v_threshold=threshold, v_reset=None, step_mode="m").eval()

    def forward(self, merged: Tensor) -> Tensor:
        currents = merged.unflatten(0, (self.timesteps, -1))
        self.neuron.reset()
        self.neuron.v = torch.full_like(currents[0], self.threshold / 2)
        return self.neuron(currents).flatten(0, 1) * self.threshold


def spikingjelly_snn(ann: nn.Module, timesteps: int) -> nn.Module:
    """The vanilla SNN of the same ANN on SpikingJelly's neurons: batch norm folded, channels last."""
    network = trained_graph(ann)
    for node, qcfs in list(neuron_nodes(network)):
        network.set_submodule(str(node.target), SpikingJellyIF(float(qcfs.threshold), timesteps))
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return SummedReadout(network, timesteps, repeats=timesteps).eval()
