"""A graph as a list of calls and a table of numbers, and back."""

from typing import Any

import torch
from torch import Tensor, fx, nn

from pascal.errors import PascalError
from pascal.graph.saving.arguments import decoded, encoded
from pascal.graph.saving.modules import described, rebuilt
from pascal.graph.saving.names import check_attribute, function_of, method_of, name_of
from pascal.graph.timesteps import Edge, Edges
from pascal.graph.trace import call, module_of, network_name, path_of, scope_of

Numbers = dict[str, Tensor]
_CONSTANT = "constant."  # numbers that belong to no module


def describe(graph: fx.GraphModule, edges: Edges) -> tuple[dict[str, Any], Numbers]:
    """Calls, modules and what is known of the images, as plain data; and all numbers by path."""
    constants = _constants(graph)
    numbers: Numbers = {f"{_CONSTANT}{node.name}": one for node, one in constants.items() if isinstance(one, Tensor)}
    modules: dict[str, Any] = {}
    for node in graph.graph.find_nodes(op="call_module"):
        path, module = str(node.target), module_of(graph, node)
        assert module is not None
        modules[path] = described(module, path, bool(node.meta.get("inert")))
        held = {**module._parameters, **module._buffers} if modules[path]["class"] != "Identity" else {}
        numbers |= {f"{path}.{name}": tensor for name, tensor in held.items() if tensor is not None}
    calls = [_described(node, constants, edges.get(node)) for node in graph.graph.nodes if _is_kept(node, constants)]
    known = {"probe": list(graph.meta["probe"]), "images_apart": graph.meta.get("images_apart", True)}
    return {"calls": calls, "modules": modules, "network": network_name(graph), **known}, numbers


def _constants(graph: fx.GraphModule) -> dict[fx.Node, Any]:
    """Values that no image changes, computed once."""
    found: dict[fx.Node, Any] = {}
    with torch.no_grad():
        for node in graph.graph.nodes:
            if node.op in ("placeholder", "output") or any(source not in found for source in node.all_input_nodes):
                continue
            if node.op == "call_module":
                continue  # kept as it is: a module has its own place
            args, kwargs = fx.map_arg((node.args, node.kwargs), found.__getitem__)
            found[node] = call(graph, node, args, kwargs)
    return found


def _is_kept(node: fx.Node, constants: dict[fx.Node, Any]) -> bool:
    if node not in constants:
        return True
    return isinstance(constants[node], Tensor) and any(user not in constants for user in node.users)


def _described(node: fx.Node, constants: dict[fx.Node, Any], edge: Edge | None) -> dict[str, Any]:
    where = path_of(node)
    record: dict[str, Any] = {"name": node.name, "scope": scope_of(node)}
    if edge is not None:
        record["edge"] = [edge.timesteps, sorted(edge.producers), edge.label, edge.places]
    if node in constants:
        return {**record, "kind": "get_attr", "target": f"{_CONSTANT}{node.name}", "args": [], "kwargs": []}
    target = name_of(node.target, where) if node.op == "call_function" else str(node.target)
    args, kwargs = fx.map_arg((node.args, node.kwargs), lambda source: _known(source, constants))
    return {
        **record,
        "kind": node.op,
        "target": target,
        "args": [encoded(argument, where) for argument in args],
        "kwargs": encoded(dict(kwargs), where)["dict"],
    }


def _known(source: fx.Node, constants: dict[fx.Node, Any]) -> Any:
    """Constants that are not tensors stand among the arguments."""
    return source if isinstance(constants.get(source, source), fx.Node | Tensor) else constants[source]


def restore(description: dict[str, Any], numbers: Numbers) -> tuple[fx.GraphModule, Edges]:
    """The graph and its edges, from what `describe` returned."""
    graph, edges = fx.Graph(), {}
    nodes: dict[str, fx.Node] = {}
    parts: dict[str, Any] = {
        path: rebuilt(module, _of(numbers, path), path) for path, module in description["modules"].items()
    }
    for record in description["calls"]:
        node = nodes[record["name"]] = _node(graph, record, nodes)
        if record["kind"] == "get_attr":
            parts[str(node.target)] = numbers[record["target"]]
        if "edge" in record:
            timesteps, producers, label, places = record["edge"]
            edges[node] = Edge(timesteps, frozenset(producers), label, places)
    module = fx.GraphModule(parts, graph, description["network"])
    module.meta.update(
        name=description["network"], probe=tuple(description["probe"]), images_apart=description["images_apart"]
    )
    graph.lint()
    return module.eval(), edges


def _node(graph: fx.Graph, record: dict[str, Any], nodes: dict[str, fx.Node]) -> fx.Node:
    def earlier(name: str) -> fx.Node:
        if name not in nodes:
            raise PascalError(f"{record['name']} reads {name!r}, which no call before it returns")
        return nodes[name]

    kind, target = record["kind"], record["target"]
    args = tuple(decoded(argument, earlier) for argument in record["args"])
    kwargs = {key: decoded(value, earlier) for key, value in record["kwargs"]}
    if kind == "call_function":
        target = function_of(target)
        check_attribute(target, args)
    elif kind == "call_method":
        target = method_of(target)
    elif kind == "get_attr":
        target = target.replace(".", "_")
    node = graph.create_node(kind, target, args, kwargs, record["name"])
    scope = record["scope"]
    node.meta["nn_module_stack"] = {scope: (scope, nn.Module)} if scope else {}
    return node


def _of(numbers: Numbers, path: str) -> Numbers:
    """The numbers of one module, by their own names."""
    own = {name.rpartition("."): tensor for name, tensor in numbers.items()}
    return {name: tensor for (owner, _, name), tensor in own.items() if owner == path}
