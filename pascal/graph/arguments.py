"""Arguments of a call, given by position or by name."""

from collections.abc import Sequence
from typing import Any

from torch import fx


def argument(node: fx.Node, position: int, name: str, default: Any = None) -> Any:
    """The argument that stands at a position or under a name; `default` where the call leaves it out."""
    return node.args[position] if len(node.args) > position else node.kwargs.get(name, default)


def named_arguments(node: fx.Node, names: Sequence[str]) -> dict[str, Any]:
    """All arguments that a call gives, by name; `names` are those of its positions."""
    return {**dict(zip(names, node.args, strict=False)), **node.kwargs}
