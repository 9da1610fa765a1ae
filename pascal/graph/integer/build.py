"""From the folded ANN and the units of its edges to a graph of integer layers and neurons."""

from dataclasses import dataclass
from operator import add
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils._pytree import tree_map_only

from pascal.errors import PascalError
from pascal.graph.arguments import argument
from pascal.graph.integer.channels import compact, over_places
from pascal.graph.integer.draft import Draft, top
from pascal.graph.integer.interpolation import interpolates
from pascal.graph.integer.meetings import LEAST_MULTIPLIER
from pascal.graph.integer.modules import IntegerPASC, IntegerWeighted, exact_dtype, whole
from pascal.graph.integer.pixels import Pixels
from pascal.graph.integer.roles import IMAGE, NEURON, POOL, SCALE, SUM, WEIGHTED
from pascal.graph.integer.units import Units
from pascal.graph.operations import WEIGHTED_MODULES, call_name, operation_of, terms_of
from pascal.graph.timesteps import Edges
from pascal.graph.trace import attribute, module_of, path_of

_SPARE = 8  # means are rounded: three bits to spare
_SPARE_OF_POSITIONS = 2**16  # and so are positions between pixels, before they become weights


@dataclass(frozen=True)
class IntegerNetwork:
    """A network on integers, for images of one size; what is known of each call stands under its name.

    `timesteps` on its edge, the `largest` magnitude it can return, and whether it is `spiking`: hands on spike counts.
    """

    graph: fx.GraphModule
    timesteps: dict[str, int]
    largest: dict[str, int]
    spiking: frozenset[str]
    logit_unit: Any  # a tensor, or as many as the network returns, in the same containers


@torch.no_grad()
def integer_network(graph: fx.GraphModule, edges: Edges, images: Tensor, pixels: Pixels) -> IntegerNetwork:
    """The integer network for images of this shape, on this device."""
    run = fx.Interpreter(graph, garbage_collect_values=False)
    run.run(torch.zeros_like(images[:1]))
    return _Builder(Units(graph, edges, run.env, pixels.step), pixels).build()


class _Builder:
    """Appends to a draft the integer counterpart of each call of the ANN."""

    def __init__(self, units: Units, pixels: Pixels) -> None:
        self.units, self.pixels, self.draft = units, pixels, Draft()
        self.nodes: dict[fx.Node, fx.Node] = {}  # of the ANN → of the integer network

    def build(self) -> IntegerNetwork:
        draft = self.draft
        by_role = {IMAGE: self._image, NEURON: self._neuron, WEIGHTED: self._weighted, SUM: self._sum,
                   SCALE: self._scale, POOL: self._pool}  # fmt: skip
        for node in self.units.graph.graph.nodes:
            if node in self.units.edges:
                self.nodes[node] = by_role.get(self.units.roles[node], self._move)(node)
            else:
                self.nodes[node] = self._copy(node, self.nodes)
        module = fx.GraphModule(draft.parts, draft.graph, "IntegerNetwork").eval()
        module.graph.eliminate_dead_code()
        module.recompile()
        logits = next(iter(self.units.graph.graph.find_nodes(op="output"))).args[0]
        return IntegerNetwork(
            graph=module,
            timesteps={node.name: timesteps for node, timesteps in draft.timesteps.items()},
            largest={node.name: int(top(largest)) for node, largest in draft.largest.items()},
            spiking=frozenset(node.name for node in draft.spiking),
            logit_unit=fx.map_arg(logits, lambda node: tree_map_only(Tensor, compact, self.units.of(node))),
        )

    def _image(self, node: fx.Node) -> fx.Node:
        largest = torch.full_like(self.units.example[node], self.pixels.largest, dtype=torch.float64)
        return self.draft.keep(self.draft.graph.placeholder("pixels"), largest, 1, "pixels")

    def _neuron(self, node: fx.Node) -> fx.Node:
        source = self.units.sources(node)[0]
        arriving, unit = self.nodes[source], self.units.of(source)
        step = over_places(self.units.step(node), unit)
        path = str(node.target)
        factor = max(1.0, float(torch.ceil(LEAST_MULTIPLIER * unit / step).max()))
        if source not in self.units.meetings and factor > 1:  # spikes read spikes: too coarse for a threshold
            arriving = self._multiplied(f"{path}_scale", arriving, unit.new_full((), factor))
            unit = unit / factor
        threshold = 2 * torch.where(unit > 0, step / (2 * unit), 1.0).round().clamp_min(1)
        bound = self.draft.checked(self.draft.largest[arriving] + threshold, path)  # of the membrane
        qcfs: Any = module_of(self.units.graph, node)
        neuron = IntegerPASC(compact(threshold), qcfs.levels, exact_dtype(bound, unit.device))
        counted = self.draft.call(path, neuron, arriving, torch.full_like(unit, qcfs.levels), qcfs.levels)
        self.draft.spiking.add(counted)
        return counted

    def _weighted(self, node: fx.Node) -> fx.Node:
        weight, bias = self.units.layer(node)
        unit = self.units.agreed(node, WEIGHTED).expand(len(weight))
        integers = (weight / unit.view(-1, *[1] * (weight.ndim - 1))).round()
        constant = (bias / unit).round()
        module, path = module_of(self.units.graph, node), str(node.target)
        arriving, timesteps = self.nodes[self.units.sources(node)[0]], self._timesteps(node)
        if not isinstance(module, WEIGHTED_MODULES):  # a batch norm that stands alone
            shape = (1, -1, *[1] * (self.units.example[node].ndim - 2))
            return self.draft.affine(path, arriving, integers.view(shape), timesteps, constant.view(shape))
        layer = IntegerWeighted(module, integers, constant)
        largest = layer.largest(self.draft.largest[arriving])
        layer.dtype = exact_dtype(top(largest), largest.device)
        return self.draft.call(path, layer, arriving, largest, timesteps)

    def _sum(self, node: fx.Node) -> fx.Node:
        unit = self.units.of(node)
        constant = torch.zeros_like(unit)
        operands = argument(node, 0, "input"), argument(node, 1, "other")
        alpha = float(argument(node, 2, "alpha", 1.0))
        terms: list[fx.Node] = []
        for factor, operand in zip((1.0, alpha if call_name(node, None) == "add" else -alpha), operands, strict=True):
            if operand in self.units.edges:
                terms.append(self._in_unit(operand, unit, factor, node))  # type: ignore[arg-type]
            else:
                value = self.units.example[operand] if isinstance(operand, fx.Node) else operand
                constant = constant + factor * torch.as_tensor(value, dtype=torch.float64)
        total = terms[0] if len(terms) == 1 else self._total(terms, node)
        if not bool(constant.any()):
            return total
        constant = compact((constant / unit).round())
        path = f"{path_of(node)}_constant"
        return self.draft.affine(path, total, torch.ones_like(constant), self._timesteps(node), constant)

    def _in_unit(self, operand: fx.Node, unit: Tensor, factor: float, node: fx.Node) -> fx.Node:
        """An operand of a sum, multiplied into the sum's unit."""
        own = self.units.of(operand).expand_as(unit)
        multiplier = torch.where(own > 0, factor * own / unit, 1.0).round()
        if operand in self.units.meetings and bool((multiplier == 1).all()):
            return self.nodes[operand]
        path = f"{path_of(node)}_{operand.name}"
        path += "_2" if path in self.draft.parts else ""  # x − αx: one operand, two multipliers
        return self._multiplied(path, self.nodes[operand], compact(multiplier))

    def _total(self, terms: list[fx.Node], node: fx.Node) -> fx.Node:
        largest = self.draft.largest[terms[0]] + self.draft.largest[terms[1]]
        if exact_dtype(top(largest), largest.device) == torch.float64:
            terms = [self._held(term, torch.float64) for term in terms]
        return self.draft.keep(
            self.draft.graph.call_function(add, tuple(terms)), largest, self._timesteps(node), path_of(node)
        )

    def _scale(self, node: fx.Node) -> fx.Node:
        """A constant factor changes the unit; what is left of it is its sign."""
        source, sign = self.nodes[self.units.sources(node)[0]], self.units.factor(node).sign()
        return source if bool((sign == 1).all()) else self._multiplied(f"{path_of(node)}_sign", source, sign)

    def _pool(self, node: fx.Node) -> fx.Node:
        divisor, source, path = self.units.divisor(node), self.units.sources(node)[0], path_of(node)
        largest = self.units.run(node, lambda edge: self.draft.largest[self.nodes[edge]]) * divisor
        spare = _SPARE_OF_POSITIONS if interpolates(call_name(node, module_of(self.units.graph, node))) else _SPARE
        dtype = exact_dtype(self.draft.checked(spare * largest, path), largest.device)
        mean = self._copy(node, {**self.nodes, source: self._held(self.nodes[source], dtype)})
        mean = self.draft.keep(mean, largest, self._timesteps(node), path)
        return self.draft.keep(
            self.draft.graph.call_function(whole, (mean, divisor)), largest, self._timesteps(node), path
        )

    def _move(self, node: fx.Node) -> fx.Node:
        self._refuse_constants(node)
        largest = self.units.run(node, lambda edge: self.draft.largest[self.nodes[edge]])
        sources, nodes = self.units.sources(node), self.nodes
        spiking = all(nodes[source] in self.draft.spiking for source in sources)
        if len(sources) > 1 and not spiking:  # bytes beside currents
            dtype = exact_dtype(top(largest), self.units.example[sources[0]].device)
            nodes = {**nodes, **{source: self._held(nodes[source], dtype) for source in sources}}
        moved = self.draft.keep(self._copy(node, nodes), largest, self._timesteps(node), path_of(node))
        if spiking:
            self.draft.spiking.add(moved)
        return moved

    def _refuse_constants(self, node: fx.Node) -> None:
        """Constants that stand beside spikes have no unit; zeros need none."""
        row = operation_of(node, module_of(self.units.graph, node))
        terms: list[Any] = []
        fx.node.map_aggregate([term for _, term in terms_of(node, row)] if row else [], terms.append)
        for term in [term for term in terms if term not in self.units.edges]:
            value = self.units.example.get(term) if isinstance(term, fx.Node) else term
            if isinstance(value, Tensor | int | float) and bool(torch.as_tensor(value).any()):
                raise PascalError(
                    f"{path_of(node)}: a constant stands beside spikes, whose unit it has not; "
                    "add it with a bias, or use engine='counts'"
                )

    def _multiplied(self, path: str, source: fx.Node, multiplier: Tensor) -> fx.Node:
        return self.draft.affine(path, source, multiplier, self.draft.timesteps[source])

    def _held(self, source: fx.Node, dtype: torch.dtype) -> fx.Node:
        held = self.draft.graph.call_method("to", (source, dtype))
        return self.draft.keep(held, self.draft.largest[source], self.draft.timesteps[source], source.name)

    def _copy(self, node: fx.Node, nodes: dict[fx.Node, fx.Node]) -> fx.Node:
        copied = self.draft.graph.node_copy(node, nodes.__getitem__)
        if node.op in ("call_module", "get_attr"):
            self.draft.parts[str(node.target)] = attribute(self.units.graph, str(node.target))
        if (node.op, node.target) == ("call_method", "view"):
            copied.target = "reshape"  # channels-last tensors have no such view
        return copied

    def _timesteps(self, node: fx.Node) -> int:
        return self.units.edges[node].timesteps
