"""The integer network timestep by timestep: Algorithm 1 on integer membranes, biases in integer shares."""

from typing import Any

import torch
from torch import Tensor, fx
from torch.utils._pytree import tree_map, tree_map_only

from pascal.graph.integer.build import IntegerNetwork
from pascal.graph.integer.modules import IntegerLayer, IntegerPASC
from pascal.graph.trace import call, module_of

Trains = dict[fx.Node, list[Any]]


@torch.no_grad()
def run_stepwise(network: IntegerNetwork, pixels: Tensor) -> tuple[Any, dict[str, Tensor]]:
    """Integer logits, and the spike train (timesteps, N, ...) of every neuron by layer."""
    trains: Trains = {}
    spikes: dict[str, Tensor] = {}
    for node in network.graph.graph.nodes:
        if node.op == "placeholder":
            trains[node] = [pixels]
        elif node.op == "output":
            return fx.map_arg(node.args[0], lambda source: _total(trains[source])), spikes
        else:
            module = module_of(network.graph, node)
            if isinstance(module, IntegerPASC):
                spikes[str(node.target)] = module.spikes(trains[node.args[0]])
                trains[node] = list(spikes[str(node.target)].float())
            else:
                trains[node] = [_at(network, node, timestep, trains) for timestep in range(_timesteps(network, node))]
        for source in node.all_input_nodes:
            if all(user in trains for user in source.users):
                trains[source] = []
    raise AssertionError("a graph ends with its output")


def _total(train: list[Any]) -> Any:
    """The sum over time of a tensor, or of each where a call returns several."""
    return tree_map(lambda *values: torch.stack(values).sum(0, dtype=torch.float64), *train)


def _timesteps(network: IntegerNetwork, node: fx.Node) -> int:
    return network.timesteps.get(node.name, 1)  # sizes and constants are the same at every timestep


def _at(network: IntegerNetwork, node: fx.Node, timestep: int, trains: Trains) -> Any:
    """What a call returns at a timestep. A branch that has ended is silent."""

    def arriving(source: fx.Node) -> Any:
        train = trains[source]
        if source.name not in network.timesteps or timestep < len(train):
            return train[min(timestep, len(train) - 1)]
        return tree_map_only(Tensor, torch.zeros_like, train[-1])

    module = module_of(network.graph, node)
    if isinstance(module, IntegerLayer):
        share = module.share(timestep, _timesteps(network, node))
        return module.currents(arriving(node.args[0]), share)  # type: ignore[arg-type]
    args, kwargs = fx.map_arg((node.args, node.kwargs), arriving)
    return call(network.graph, node, args, kwargs)
