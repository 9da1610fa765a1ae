"""A tracer for which tensors are objects: what is written in place is seen by whoever reads the tensor afterwards.

Every call is executed on a probe while it is recorded. So sizes are known where Python asks for them (each answer
stays in the graph as a condition), and so is which values share their memory.
"""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.proxy import Proxy, TraceError

from pascal.graph.tracing.guards import expect
from pascal.graph.tracing.inplace import Change, change_of
from pascal.graph.tracing.known import concrete_of, input_first, is_sized, is_zero, values_of
from pascal.graph.tracing.training import InferenceOnly
from pascal.graph.tracing.values import Value
from pascal.graph.tracing.views import alias_of, shares_memory, write_back
from pascal.neurons import QCFS

_DECISION = "control flow depends on the data, which has no graph; make it constant, or convert the part without it"
_CASTS = {"to", "float", "double", "type", "type_as", "cpu", "cuda", "requires_grad_", "half", "bfloat16"}


class NeuronTracer(fx.Tracer):
    """Records a module's forward on a probe, with neurons as leaves and hooks honoured."""

    proxy_buffer_attributes = True  # a buffer is a constant of the graph, with whatever is computed from it

    def __init__(
        self, probe: Tensor, leaves: frozenset[str] = frozenset(), inplace: frozenset[str] = frozenset()
    ) -> None:
        super().__init__()
        self.probe = probe
        self.inplace = inplace  # paths of modules that write into what they read
        self.inert = set(leaves)  # paths of modules that hand their input on at inference
        self._live: list[weakref.ref[Value]] = []
        self._executing = False

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        if isinstance(m, QCFS | InferenceOnly) or module_qualified_name in self.inert:
            return True
        return super().is_leaf_module(m, module_qualified_name) and not is_customised(m)

    def create_args_for_root(self, root_fn: Any, is_module: bool, concrete_args: Any = None) -> Any:
        """The images alone: whatever else forward takes has its default."""
        images = self.create_proxy("placeholder", _first_argument(root_fn), (), {})

        def called(root: nn.Module, images: Any) -> Any:
            return root._call_impl(images)  # with the hooks of the model itself

        return called, [self.root, images]

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return attr_val if self._executing else super().getattr(attr, attr_val, parameter_proxy_cache)

    def call_module(self, m: nn.Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self._executing:
            return forward(*args, **kwargs)
        if isinstance(m, QCFS) and _has_hooks(m):
            return self._between_hooks(m, args)
        before = [argument.node for argument in args if isinstance(argument, Value)]
        result = super().call_module(m, forward, args, kwargs)
        if args and result is args[0] and [result.node] == before and not self.is_leaf_module(m, ""):
            path = self.path_of_module(m)
            self.inert.add(path)  # such as stochastic depth: kept as a module, it follows train() and eval()
            return super().call_module(m, forward, args, kwargs)
        return result

    def _between_hooks(self, m: nn.Module, args: Any) -> Any:
        for hook in m._forward_pre_hooks.values():
            changed = hook(m, args)
            args = args if changed is None else changed if isinstance(changed, tuple) else (changed,)
        result = self.create_proxy("call_module", self.path_of_module(m), args, {})
        for hook in m._forward_hooks.values():
            changed = hook(m, args, result)
            result = result if changed is None else changed
        return result

    def proxy(self, node: fx.Node) -> Value:
        return Value(node, self)

    def create_arg(self, a: Any) -> Any:
        if isinstance(a, Proxy):
            if type(a) is Value:
                self.refresh(a)
            return a.node
        found = super().create_arg(a)
        if isinstance(a, Tensor) and isinstance(found, fx.Node):
            found.meta["zero"] = is_zero("get_attr", "", a, [])
        return found

    def create_proxy(  # type: ignore[override]
        self, kind: str, target: Any, args: Any, kwargs: Any, name: Any = None, type_expr: Any = None, **_: Any
    ) -> Any:
        args, kwargs = input_first(args, kwargs)
        change = self._change(kind, target, args, kwargs)
        if change is None or (isinstance(change.operand, Value) and not isinstance(change.operand.concrete, Tensor)):
            pure = (kind, target, args, kwargs) if change is None else change.pure
            return self._record(*pure, name=name, type_expr=type_expr)  # type: ignore[misc]
        if type(change.operand) is not Value:
            raise TraceError(
                f"{change.name} writes activations into a tensor that is no activation; "
                "use torch.cat, torch.stack or x.new_zeros(...)"
            )
        if change.pure is None:
            raise TraceError(f"{change.name} changes its operand in a way that cannot be followed; write x = ...")
        self._write(change.operand, self._record(*change.pure), change.name)
        return change.operand

    def _change(self, kind: str, target: Any, args: Any, kwargs: Any) -> Change | None:
        if kind == "call_module" and target in self.inplace:
            operand = next(values_of((args, kwargs)), None)
            return None if operand is None else Change(operand, (kind, target, args, kwargs), target)
        return change_of(kind, target, args, kwargs)

    def _record(self, kind: str, target: Any, args: Any, kwargs: Any, name: Any = None, type_expr: Any = None) -> Any:
        """A pure call, recorded and executed."""
        values = list(values_of((args, kwargs)))
        for value in values:
            self.refresh(value)
        concrete = self._execute(kind, target, args, kwargs)
        call = target if isinstance(target, str) else getattr(target, "__name__", "")
        if call in _CASTS and kind == "call_method" and type(args[0]) is Value and concrete is args[0].concrete:
            return args[0]  # a cast to what it is already
        result: Any = super().create_proxy(kind, target, args, kwargs, name, type_expr)
        result.concrete, result.fixed = concrete, kind != "placeholder" and all(value.fixed for value in values)
        result.node.meta["shape"] = tuple(concrete.shape) if isinstance(concrete, Tensor) else None
        result.node.meta["zero"] = is_zero(kind, call, concrete, values)
        self._note_size(result, call if target is not getattr else args[1], values)
        parent = alias_of(result, values)
        if parent is not None:
            result.parent, result.recipe = parent, (kind, target, args, kwargs)
        self._live.append(weakref.ref(result))
        return result

    def _execute(self, kind: str, target: Any, args: Any, kwargs: Any) -> Any:
        if kind == "placeholder":
            return self.probe
        args, kwargs = concrete_of((args, kwargs))
        self._executing = True
        try:
            with torch.no_grad():
                if kind == "get_attr":
                    return _attribute(self.root, target)
                if kind == "call_module":
                    return self.root.get_submodule(target)._call_impl(*args, **kwargs)
                if kind == "call_method":
                    return getattr(args[0], target)(*args[1:], **kwargs)
                return target(*args, **kwargs)
        finally:
            self._executing = False

    def _note_size(self, result: Value, call: str, values: list[Value]) -> None:
        if isinstance(result.concrete, Tensor) or not values:
            return
        result.sized = is_sized(values, call)
        origins = (value if isinstance(value.concrete, Tensor) else value.origin for value in values)
        result.origin = next((origin for origin in origins if origin is not None), None)

    def known(self, value: Value, ask: Callable[[Any], Any]) -> Any:
        """What Python asks of a size, answered from the probe; the answer becomes a condition of the graph."""
        if value.fixed:
            return ask(value.concrete)
        if isinstance(value.concrete, Tensor):
            if ask is not len:
                raise TraceError(_DECISION)
            value, ask = value.size(0), int
        if not value.sized:
            if ask is len and isinstance(value.concrete, tuple | list):
                return self._pieces(value)
            raise TraceError(_DECISION)
        answer = ask(value.concrete)
        if ask is not len and value.origin is not None:
            node = value.node if ask is not bool else self._truth(value)
            self._guard(value.origin, node, answer if ask is bool else value.concrete)
        return answer

    def _truth(self, value: Value) -> fx.Node:
        return (
            value.node
            if isinstance(value.concrete, bool)
            else self.create_node("call_function", bool, (value.node,), {})
        )

    def _pieces(self, value: Value) -> int:
        """How many tensors a call returned."""
        pieces = len(value.concrete)
        recipe: Any = value.recipe or (None, None, (), {})
        _, _, args, kwargs = recipe
        dim = kwargs.get("dim", args[2] if len(args) > 2 else 0)
        if dim != 1 and value.parent is not None and isinstance(value.parent.concrete, Tensor):
            self._guard(value.parent, self.create_node("call_function", len, (value.node,), {}), pieces)
        return pieces

    def _guard(self, origin: Value, node: fx.Node, expected: Any) -> None:
        self.refresh(origin)
        origin.node = self.create_node("call_function", expect, (origin.node, node, self.create_arg(expected)), {})

    def _write(self, operand: Value, result: Value, name: str) -> None:
        """`operand` becomes `result`, and so do the values that share its memory."""
        memory = operand.concrete
        if self.root.training and result.fixed and operand.fixed:
            return  # such as a batch norm's count of batches
        if any(shares_memory(memory, own) for own in (*self.root.parameters(), *self.root.buffers())):
            raise TraceError(f"{name} changes a parameter or buffer of the model in forward")
        if result.concrete.dtype != memory.dtype or result.concrete.shape != memory.shape:
            raise TraceError(f"{name} casts or broadcasts what it writes; write x = ... with one dtype and shape")
        sharing = [v for ref in self._live if (v := ref()) is not None and v is not operand]
        sharing = [value for value in sharing if shares_memory(value.concrete, memory)]
        operand.node, operand.concrete = result.node, result.concrete
        chain = write_back(self, operand, name)
        for value in sharing:
            if not any(value is written for written in chain) and value is not result:
                value.stale = True

    def refresh(self, value: Value) -> None:
        """A view of what has been written since is taken again."""
        if value.broken:
            raise TraceError(f"{value.broken} writes through a view of a tensor that is read again; write x = ...")
        if value.stale:
            value.stale = False
            if value.parent is None:
                raise TraceError("a tensor is read again after it was written under another name; write x = ...")
            self.refresh(value.parent)
            again = self._record(*value.recipe)
            value.node, value.concrete = again.node, again.concrete


def _attribute(root: nn.Module, path: str) -> Any:
    value: Any = root
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _has_hooks(m: nn.Module) -> bool:
    return bool(m._forward_hooks or m._forward_pre_hooks)


def is_customised(m: nn.Module) -> bool:
    """Hooks and parametrisations act on what the module computes: they are traced, the module with them."""
    return _has_hooks(m) or hasattr(m, "parametrizations")


def _first_argument(forward: Any) -> str:
    names = forward.__code__.co_varnames
    return names[1] if forward.__code__.co_argcount > 1 else "images"
