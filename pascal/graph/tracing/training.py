"""What a network does in training only, and the trace at inference therefore lacks."""

from collections import Counter
from typing import Any

from torch import Tensor, fx, nn

from pascal.errors import PascalError


class InferenceOnly(nn.Module):
    """Hands the images on; refuses training, which would be another network's."""

    def __init__(self, lost: tuple[str, ...]) -> None:
        super().__init__()
        self.lost = lost
        self.training = False

    def forward(self, images: Tensor) -> Tensor:
        return images

    def train(self, mode: bool = True) -> "InferenceOnly":
        if mode:
            raise PascalError(refusal(self.lost))
        return self


def refusal(lost: tuple[str, ...]) -> str:
    """The message of a network that would train without some of its parts."""
    return (
        f"training would lose {', '.join(lost[:8])}{' …' if len(lost) > 8 else ''}: calls of the training mode that "
        "inference does not make; build the model without them (aux_logits=False, drop_path_rate=0), or keep eval()"
    )


def lost_in_training(at_inference: fx.GraphModule, in_training: fx.GraphModule) -> tuple[str, ...]:
    """The calls by which the two graphs differ, by path."""
    ours, theirs = _calls(at_inference), _calls(in_training)
    if ours == theirs:
        return ()
    missing = Counter(map(_label, theirs)) - Counter(map(_label, ours))
    extra = Counter(map(_label, ours)) - Counter(map(_label, theirs))
    first = next((one for one, other in zip(theirs, ours, strict=False) if one != other), theirs[-1])
    return tuple(dict.fromkeys((*missing, *extra))) or (_label(first),)


def _calls(traced: fx.GraphModule) -> list[tuple[Any, ...]]:
    """The calls of a graph, each with where its arguments come from."""
    traced.graph.eliminate_dead_code()
    position = {node: number for number, node in enumerate(n for n in traced.graph.nodes)}
    return [
        (_scope(node), _name(node), _shown(fx.map_arg((node.args, node.kwargs), lambda n: f"#{position[n]}")))
        for node in traced.graph.nodes
        if node.op != "placeholder"
    ]


def _label(call: tuple[Any, ...]) -> str:
    scope, name, _ = call
    return name if "." in name or not scope else f"{scope}.{name}"


def _scope(node: fx.Node) -> str:
    stack = list(node.meta.get("nn_module_stack", {}).values())
    return stack[-1][0] if stack else ""


def _name(node: fx.Node) -> str:
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))


def _shown(arguments: Any) -> str:
    """Arguments as text, without the flags that only say which mode it is."""
    return repr(arguments).replace("True", "?").replace("False", "?")
