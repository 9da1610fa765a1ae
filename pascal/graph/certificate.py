"""The records of an equivalence certificate: what was compared, what differed, and what it all speaks of."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any

from pascal.errors import PascalError
from pascal.graph.certificate_text import as_html, as_text


@dataclass(frozen=True)
class LayerVerification:
    """How one layer compares: spike counts with the ANN's levels, or what the readout puts out.

    The readout is everything behind the last neurons; its `neurons` are the values it puts out and do not count as
    neurons of the network.
    """

    path: str
    neurons: int = 0
    mismatches: int = 0
    boundary_distance: float | None = None  # of the mismatches, the farthest from a level boundary, in steps
    kind: str = "neurons"  # or "readout"
    margin: float | None = None  # of all neurons, the nearest to a level boundary, in steps
    ties: int | None = None  # neurons exactly on a boundary
    train_mismatches: int | None = None  # neurons whose spikes fall into other timesteps; None: no trains to compare
    first_timestep: int | None = None  # the first in which they differ, from 0
    error: float | None = None  # of a readout: the largest difference
    bound: float | None = None  # and the largest that rounding allows anywhere; each value is held to its own
    note: str = ""

    @property
    def differs(self) -> bool:
        """Whether anything of this layer does."""
        return bool(self.mismatches or self.train_mismatches)


@dataclass(frozen=True)
class Verification:
    """What was compared and what differed. `neurons` counts every neuron on every image."""

    images: int
    neurons: int
    count_mismatches: int
    prediction_mismatches: int
    max_logit_error: float
    first_divergence: str | None
    layers: tuple[LayerVerification, ...]
    dtype: str
    train_mismatches: int | None = None  # None: one of the networks has no trains of its own
    logit_mismatches: int | None = None  # values beyond what rounding allows; None: written before they were counted
    logit_bound: float | None = None
    prediction_ties: int = 0  # predictions that differ between classes which rounding cannot tell apart
    engine: str = ""
    model_digest: str = ""
    snn_digest: str = ""
    data_digest: str = ""
    class_axis: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str | None = None  # as the caller gave it

    @property
    def passed(self) -> bool:
        """Whether there was something to compare, and every neuron, train, logit and prediction agreed."""
        compared = self.images > 0 and self.neurons > 0 and self.logit_mismatches is not None
        differing = (self.count_mismatches, self.train_mismatches, self.logit_mismatches, self.prediction_mismatches)
        return compared and not any(differing)

    @property
    def margin(self) -> float | None:
        """The smallest distance of any preactivation from a level boundary, in steps."""
        return min((layer.margin for layer in self.layers if layer.margin is not None), default=None)

    def to_json(self) -> str:
        """The certificate as JSON, with sorted keys."""
        return json.dumps({**asdict(self), "passed": self.passed}, indent=2, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Verification":
        """A certificate that `to_json` wrote; one that contradicts itself is refused."""
        try:
            found = json.loads(text)
        except ValueError as error:
            raise PascalError(f"certificate: {error}; expected what pascal verify --json writes") from error
        record = _record(cls, found, "certificate")
        layers = record["layers"] if isinstance(record["layers"], list) else [None]
        record["layers"] = tuple(LayerVerification(**_record(LayerVerification, each, "layer")) for each in layers)
        certificate = cls(**record)
        certificate._check(found.get("passed"))
        return certificate

    def _check(self, said: object) -> None:
        """Totals must be those of the layers, and the verdict that of the totals."""
        counted = [layer for layer in self.layers if layer.kind == "neurons"]
        for name, of in (("neurons", "neurons"), ("count_mismatches", "mismatches")):
            total = getattr(self, name)
            if total != sum(getattr(layer, of) for layer in counted):
                raise PascalError(f"certificate: {name} is {total}, which its layers do not add up to; verify again")
        if self.logit_mismatches is not None and said is not self.passed:
            raise PascalError(f"certificate: passed is {said}, its numbers say {self.passed}; verify again")

    def differences(self, other: "Verification") -> list[str]:
        """Where another run does not confirm this one: what they speak of, then what they found, then each layer."""
        differing = [_told(name, getattr(self, name), getattr(other, name)) for name in _CONFIRMED]
        mine, theirs = ({layer.path: layer for layer in one.layers} for one in (self, other))
        for path in dict.fromkeys((*mine, *theirs)):
            for name in ("neurons", "mismatches"):
                pair = (getattr(of.get(path), name, None) for of in (mine, theirs))
                differing.append(_told(f"{name} of {path}", *pair))
        return [each for each in differing if each]

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


# Not what the last bit of another machine may move (errors, bounds, margins), nor when and with what it was computed.
_CONFIRMED = (
    "model_digest",
    "data_digest",
    "engine",
    "dtype",
    "class_axis",
    "images",
    "neurons",
    "count_mismatches",
    "train_mismatches",
    "logit_mismatches",
    "prediction_mismatches",
    "first_divergence",
)


def _told(name: str, mine: Any, theirs: Any) -> str:
    """Empty where both agree, or where an older certificate does not speak of it."""
    if mine == theirs or (mine in ("", None) and name not in ("first_divergence",)):
        return ""
    return f"{name}: the certificate has {mine}, found {theirs}"


def _record(kind: type, found: Any, where: str) -> dict[str, Any]:
    """The fields of a record, refusing missing and unknown ones by name; `passed` is computed."""
    if not isinstance(found, dict):
        raise PascalError(f"certificate: {where} is {found!r:.60}, expected an object; verify again")
    known = {each.name for each in fields(kind)}
    required = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}
    unknown = sorted(found.keys() - known - {"passed"})
    missing = sorted(required - found.keys())
    if unknown or missing:
        raise PascalError(f"certificate: {where} lacks {missing} and has unknown {unknown}; verify again")
    return {name: value for name, value in found.items() if name in known}
