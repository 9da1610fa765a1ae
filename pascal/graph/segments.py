"""A network cut at its neurons: the calls between two of them, a *segment*, and what has to be stored meanwhile."""

from typing import Any

from torch import fx, nn
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd

from pascal.errors import PascalError
from pascal.graph.operations import call_name
from pascal.graph.spike_flow import NEURONS
from pascal.graph.timesteps import count_timesteps
from pascal.graph.trace import call, module_of

Segments = list[tuple[fx.Node, list[fx.Node], list[str]]]


def cut(graph: fx.GraphModule, values: set[str]) -> Segments:
    """(stop, the calls that feed it ending with its source, stored trains that nobody needs afterwards)."""
    stops = _stops(graph, values)
    segments = {stop: _segment(stop, stops) for stop in stops if stop.op != "placeholder"}
    last_reader = {node: stop for stop, segment in segments.items() for node in segment if node in stops}
    return [
        (stop, segments.get(stop, []), [node.name for node, reader in last_reader.items() if reader is stop])
        for stop in stops
    ]


def _stops(graph: fx.GraphModule, values: set[str]) -> dict[fx.Node, None]:
    """Nodes whose train is stored, in forward order: image, neurons, values of several segments, the readout."""
    readers: dict[fx.Node, set[fx.Node]] = {}
    stops: set[fx.Node] = set()
    for node in reversed(graph.graph.nodes):
        readers[node] = set().union(*({user} if user in stops else readers[user] for user in node.users))
        shared = node.name in values and len(readers[node]) > 1
        if shared or is_neuron(node) or node.op in ("placeholder", "output"):
            stops.add(node)
    return dict.fromkeys(node for node in graph.graph.nodes if node in stops)


def is_neuron(node: fx.Node) -> bool:
    """Whether a node calls a neuron, of the ANN or of an SNN."""
    owner = node.graph.owning_module
    return owner is not None and isinstance(module_of(owner, node), NEURONS)


def _segment(stop: fx.Node, stops: dict[fx.Node, None]) -> list[fx.Node]:
    """The calls between earlier stops and this one, earlier stops included, in forward order; its source is last.

    A stop that is not a neuron is itself the last call of its segment.
    """
    needed: set[fx.Node] = set()
    frontier = [stop]
    while frontier:
        for source in frontier.pop().all_input_nodes:
            if source not in needed:
                needed.add(source)
                if source not in stops:
                    frontier.append(source)
    ordered = [node for node in stop.graph.nodes if node in needed]
    return ordered if stop.op == "output" or is_neuron(stop) else [*ordered, stop]


class Part:
    """One segment of an ANN: what it reads, where it ends, and which layer adds to its end as it is."""

    def __init__(
        self, network: fx.GraphModule, stop: fx.Node, segment: list[fx.Node], expired: list[str], stored: set[fx.Node]
    ) -> None:
        self.name, self.expired, self._segment = stop.name, expired, segment
        self.is_image, self.is_readout = stop.op == "placeholder", stop.op == "output"
        self.neuron = str(stop.target) if is_neuron(stop) else None
        inside = set(segment) - (stored - {stop})
        self.host = _host(network, segment[-1], inside) if segment else None

    def run(self, network: nn.Module, stored: dict[str, Any]) -> Any:
        """What arrives at the end of the segment, of this network or of a copy of it."""
        values: dict[fx.Node, Any] = {}
        for node in self._segment:
            if node.name in stored:
                values[node] = stored[node.name]
            else:
                args, kwargs = fx.map_arg((node.args, node.kwargs), values.__getitem__)
                values[node] = call(network, node, args, kwargs)  # type: ignore[arg-type]
        return values[self._segment[-1]]

    @property
    def reads(self) -> list[str]:
        """Names of the stored values that the segment needs, if they are stored at all."""
        return [node.name for node in self._segment]


def parts_of(network: fx.GraphModule) -> list[Part]:
    """The segments of an ANN in forward order."""
    values = {node.name for node in count_timesteps(network)}
    segments = cut(network, values)
    outputs = next(iter(network.graph.find_nodes(op="output"))).args[0]
    if not isinstance(outputs, fx.Node):
        raise PascalError(f"ann: returns a {type(outputs).__name__.split('_')[-1]}, expected one tensor, the logits")
    stored = {stop for stop, _, _ in segments}
    return [Part(network, *segment, stored) for segment in segments]


def _host(network: fx.GraphModule, node: Any, inside: set[fx.Node], is_end: bool = True) -> str | None:
    """The last weighted layer of a segment whose output is added to this value as it is, if there is one."""
    if not isinstance(node, fx.Node) or node not in inside or not (is_end or len(node.users) == 1):
        return None
    module = module_of(network, node)
    if isinstance(module, nn.Linear) or (isinstance(module, _ConvNd) and not module.transposed):
        return str(node.target)
    if isinstance(module, nn.Identity | _DropoutNd):
        return _host(network, node.args[0], inside, False)
    if module is not None or call_name(node, None) not in ("add", "sub"):
        return None
    terms = node.args if call_name(node, None) == "add" and not node.kwargs else node.args[:1]
    hosts = [host for host in (_host(network, term, inside, False) for term in terms) if host is not None]
    order = [str(other.target) for other in network.graph.nodes]
    return max(hosts, key=order.index, default=None)
