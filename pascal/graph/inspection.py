"""What `pascal.inspect` found, as a record that prints."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from pascal.graph.timesteps import Refusal
from pascal.text import html_table, shortened, si, text_table


@dataclass(frozen=True)
class Activation:
    """A call that becomes a layer of neurons; `clip` is where it stops to grow (6 of a ReLU6)."""

    path: str
    call: str
    clip: float | None = None


@dataclass(frozen=True)
class Covered:
    """A call that the theorems cover, by the property that makes it exact."""

    path: str
    call: str
    property: str


@dataclass(frozen=True)
class Layer:
    """A weighted layer and its multiply-accumulates for one image."""

    path: str
    call: str
    output_shape: tuple[int, ...]
    macs: int


@dataclass(frozen=True)
class Inspection:
    """A model before conversion: `converts` says whether `pascal.quantize` will take it; print it for the reasons."""

    network: str
    parameters: int
    image_shape: tuple[int, ...] = ()
    activations: tuple[Activation, ...] = ()
    layers: tuple[Layer, ...] = ()
    covered: tuple[Covered, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    failure: str | None = None  # where and why the model could not be traced at all

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one image."""
        return sum(layer.macs for layer in self.layers)

    @property
    def converts(self) -> bool:
        """Whether every call is covered, and there is an activation to become neurons."""
        return self.failure is None and not self.refusals and bool(self.activations)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, totals included."""
        return {**asdict(self), "macs": self.macs, "converts": self.converts}

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=1)

    def __str__(self) -> str:
        parts = [[self._verdict()], self._layer_lines(), self._refusal_lines()]
        return "\n\n".join("\n".join(lines) for lines in parts if lines)

    def _repr_html_(self) -> str:
        refused = [(r.path, r.call, r.remedy) for r in self.refusals]
        refusals = html_table(("call", "kind", "what to do"), refused) if refused else ""
        layers = html_table(_HEADINGS, shortened(self._rows())) if self.layers else ""
        return f"<p><b>{escape(self._verdict())}</b></p>{refusals}{layers}"

    def _verdict(self) -> str:
        if self.failure is not None:
            return f"{self.network} does not convert: {self.failure}"
        shape = " × ".join(map(str, self.image_shape))
        size = f"{si(self.parameters)} parameters, {si(self.macs)} MACs for an image of {shape}"
        kinds = ", ".join(f"{number} {name}" for name, number in Counter(c.property for c in self.covered).items())
        calls = f"{len(self.activations)} activations become neurons; calls that are exact: {kinds or 'none'}"
        if self.converts:
            return f"{self.network} converts: {calls}; {size}"
        if not self.refusals:
            return f"{self.network} does not convert: it has no ReLU to become neurons; put one behind each layer"
        return f"{self.network} does not convert yet: calls that are not covered: {len(self.refusals)}; {calls}; {size}"

    def _rows(self) -> list[tuple[str, ...]]:
        total = max(self.macs, 1)
        return [
            (
                layer.path,
                layer.call,
                "×".join(map(str, layer.output_shape)),
                si(layer.macs),
                f"{layer.macs / total:.1%}",
            )
            for layer in self.layers
        ]

    def _layer_lines(self) -> list[str]:
        return text_table(_HEADINGS, shortened(self._rows())) if self.layers else []

    def _refusal_lines(self) -> list[str]:
        """One line for all calls with the same remedy."""
        alike: dict[tuple[str, str], list[str]] = {}
        for refusal in self.refusals:
            alike.setdefault((refusal.call, refusal.remedy), []).append(refusal.path)
        lines = [f"  {_listed(paths)} ({call}): {remedy}" for (call, remedy), paths in alike.items()]
        return ["not covered:", *lines] if lines else []


def _listed(paths: list[str]) -> str:
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


_HEADINGS = ("layer", "call", "output", "MACs", "share")
