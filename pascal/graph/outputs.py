"""What two networks put out, compared: every output, each value held to what rounding allows, and the predictions."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import keystr, tree_flatten_with_path

from pascal.errors import PascalError
from pascal.graph.certificate import LayerVerification
from pascal.graph.observe import Observation
from pascal.graph.readout import Readout, UnboundedError

_EQUAL = "must be equal: "


class Outputs:
    """The outputs of two networks over all batches: one record each; without a readout they must be equal."""

    def __init__(self, readout: Readout | None, roundoff: float, class_axis: int) -> None:
        self.readout, self.roundoff, self.class_axis = readout, roundoff, class_axis
        self.predictions, self.ties = 0, 0
        self._found: dict[str, LayerVerification] = {}

    def compare(self, expected: Observation, got: Observation, images: Tensor) -> None:
        """Another batch."""
        mine, theirs = (_tensors(one.logits, name) for one, name in ((expected, "ann"), (got, "snn")))
        if [key for key, _ in mine] != [key for key, _ in theirs]:
            keys = [[key or "one tensor" for key, _ in outputs] for outputs in (mine, theirs)]
            raise PascalError(f"outputs: ann gives {keys[0]}, snn {keys[1]}; convert this very network again")
        bounds, note = self._bounds(images, expected, len(mine))
        for (key, value), (_, other), bound in zip(mine, theirs, bounds, strict=True):
            self._compare(key, value, other.to(value.device), bound, note, len(images))

    def layers(self, taken: set[str]) -> list[LayerVerification]:
        """One record per output, under the name of the layer that makes it."""
        names = self.readout.names if self.readout else []
        named = []
        for number, (key, layer) in enumerate(self._found.items()):
            name = names[number] if len(names) == len(self._found) else "readout"
            if name in taken or len(self._found) > 1:
                name = f"{name} → output{key}"
            taken.add(name)
            named.append(replace(layer, path=name))
        return named

    def _bounds(self, images: Tensor, expected: Observation, outputs: int) -> tuple[list[Tensor | float], str]:
        """What rounding allows for each value; zero where nothing is known."""
        if self.readout is None or self.roundoff == 0:  # integers round nothing
            return [0.0] * outputs, ""
        try:
            found = self.readout.bounds(images, expected.counts, self.roundoff)
        except UnboundedError as unbounded:
            return [0.0] * outputs, f"{_EQUAL}no bound of the rounding in {unbounded} is known"
        if len(found) != outputs:
            return [0.0] * outputs, f"{_EQUAL}the graph has {len(found)} outputs, the network {outputs}"
        return list(found), ""

    def _compare(self, key: str, mine: Tensor, theirs: Tensor, bound: Tensor | float, note: str, images: int) -> None:
        _check_shapes(key, mine, theirs, images)
        if isinstance(bound, Tensor) and bound.shape != mine.shape:
            note = f"{_EQUAL}its bound has shape {tuple(bound.shape)}"
            bound = 0.0
        error = (mine.double() - theirs.double()).abs()
        before = self._found.get(key, LayerVerification(key, kind="readout", error=0.0, bound=0.0))
        self._found[key] = replace(
            before,
            neurons=before.neurons + mine.numel(),
            mismatches=before.mismatches + int((error > bound).sum()),
            error=max(before.error or 0.0, float(error.max())),
            bound=max(before.bound or 0.0, float(torch.as_tensor(bound).max())),
            note=note,
        )
        differs = self._predicted(key, mine) != self._predicted(key, theirs)
        tied = differs & self._tied(key, mine, error, bound) if bool(differs.any()) else differs
        self.predictions += int((differs & ~tied).sum())
        self.ties += int(tied.sum())

    def _predicted(self, key: str, output: Tensor) -> Tensor:
        """The largest along the class axis; of a single value its sign."""
        if self._has_one_class(key, output):
            return output > 0
        return output.argmax(self.class_axis)

    def _tied(self, key: str, mine: Tensor, error: Tensor, bound: Tensor | float) -> Tensor:
        """Where rounding alone decides: two classes are no farther apart than two bounds, which all logits keep."""
        kept, allowed = error <= bound, torch.as_tensor(bound).expand_as(mine)
        if self._has_one_class(key, mine):
            return kept & (mine.abs() <= allowed)
        largest = mine.amax(self.class_axis, keepdim=True)
        near = (largest - mine <= 2 * allowed.amax(self.class_axis, keepdim=True)).sum(self.class_axis) > 1
        return near & kept.all(self.class_axis)

    def _has_one_class(self, key: str, output: Tensor) -> bool:
        if output.ndim > 1 and not -output.ndim < self.class_axis < output.ndim:
            raise PascalError(f"class_axis: got {self.class_axis}, output{key} has shape {tuple(output.shape)}")
        return output.ndim == 1 or output.shape[self.class_axis] == 1


def _check_shapes(key: str, mine: Tensor, theirs: Tensor, images: int) -> None:
    if mine.shape != theirs.shape:
        raise PascalError(f"output{key}: shapes {tuple(mine.shape)} and {tuple(theirs.shape)} differ; convert again")
    if mine.ndim == 0 or len(mine) != images:
        raise PascalError(f"output{key}: got shape {tuple(mine.shape)} for {images} images, expected (N, …)")


def _tensors(outputs: Any, name: str) -> list[tuple[str, Tensor]]:
    """Every tensor of a network's answer with the way to it; numbers are tensors, and nothing may be infinite."""
    found = []
    for path, leaf in tree_flatten_with_path(outputs)[0]:
        if isinstance(leaf, Tensor) or leaf is None:
            found += [(keystr(path), leaf)] if leaf is not None and leaf.numel() else []
        else:
            raise PascalError(f"{name}: output{keystr(path)} is {leaf!r:.60}, expected tensors")
    if not found:
        raise PascalError(f"{name}: put out nothing to compare, expected logits")
    for key, tensor in found:
        if not bool(torch.isfinite(tensor).all()):
            where = f"output{key}: " if key else ""
            raise PascalError(f"{name}: {where}got NaN or infinite logits, expected finite ones; compute in float64")
    return found
