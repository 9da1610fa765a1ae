"""A network with settable levels and thresholds, run on calibration images in pieces that fit the memory."""

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from pascal.errors import PascalError
from pascal.graph import qcfs_layers
from pascal.graph.images import check_images, dtype_and_device
from pascal.graph.replay import Replay
from pascal.inference import check_model, image_batches
from pascal.neurons import QCFS

_MEMORY = 2**28  # bytes that the kept values of one piece of the images may take
_LARGEST_PIECE = 64  # images; larger ones are no faster


class Setting(NamedTuple):
    """What a plan decides for one layer: its levels, and its threshold as a multiple of the start's."""

    levels: int
    scale: float = 1.0


Assignment = dict[str, Setting]  # by layer, in forward order
Change = tuple[str, Setting]


@dataclass(frozen=True)
class Images:
    """Calibration images: those that the plan is made on, and those it is judged on."""

    planning: Tensor
    held_out: Tensor


class Network:
    """The start network, its layers, and every variant of them that was asked for."""

    def __init__(self, ann: nn.Module) -> None:
        self._ann = copy.deepcopy(check_model(ann, "ann")).eval()
        self.layers: dict[str, QCFS] = qcfs_layers(self._ann)
        if not self.layers:
            raise PascalError("ann: has no QCFS layer; call pascal.quantize(ann) and train or calibrate it first")
        self._replay = Replay(self._ann)
        self._neurons: dict[Change, QCFS] = {}
        self.piece = 1

    @property
    def start(self) -> Assignment:
        """The levels and thresholds that the network came with."""
        return {path: Setting(layer.levels) for path, layer in self.layers.items()}

    def copy(self, assignment: Assignment) -> nn.Module:
        """The network with other levels and thresholds."""
        ann = copy.deepcopy(self._ann)
        for path, setting in assignment.items():
            ann.set_submodule(path, copy.deepcopy(self.neuron(path, setting)))
        return ann

    def neuron(self, path: str, setting: Setting) -> QCFS:
        """A layer with another setting."""
        if (path, setting) not in self._neurons:
            neuron = copy.deepcopy(self.layers[path])
            neuron.levels = setting.levels
            if setting.scale != 1:
                neuron.threshold = neuron.threshold.detach() * setting.scale
            self._neurons[path, setting] = neuron
        return self._neurons[path, setting]

    def logits(self, images: Tensor, assignment: Assignment) -> Tensor:
        """The outputs for all images."""
        neurons = self._neurons_of(assignment)
        return torch.cat([self._replay.start(piece, neurons).logits for piece in images.split(self.piece)])

    def exchanges(
        self, images: Tensor, assignment: Assignment, changes: Iterable[Change], tick: Callable[[], Any]
    ) -> Iterator[tuple[Change | None, slice, Tensor]]:
        """Outputs with one layer changed at a time, by pieces of the images; each piece begins without a change."""
        neurons, changes = self._neurons_of(assignment), list(changes)
        for first in range(0, len(images), self.piece):
            where = slice(first, min(first + self.piece, len(images)))
            prefix = self._replay.start(images[where], neurons)
            yield None, where, prefix.logits
            for path, setting in changes:
                yield (path, setting), where, self._replay.rerun(prefix, path, self.neuron(path, setting))
                tick()

    def gather(self, batches: Iterable[Any], held_out: float, fewest: int, seed: int) -> Images:
        """All images of the batches, in the network's arithmetic, split at random; labels are not looked at."""
        dtype, device = dtype_and_device(self._ann)
        pieces = list(image_batches(batches))
        if not pieces:
            raise PascalError("batches: got none, expected calibration images (an iterator is spent after one pass)")
        for piece in pieces:
            if piece.is_floating_point():
                piece = piece.to(device, dtype)
            check_images(piece, self._ann)
            if piece.shape[1:] != pieces[0].shape[1:]:
                shapes = f"{tuple(pieces[0].shape[1:])} and {tuple(piece.shape[1:])}"
                raise PascalError(f"batches: got images of shapes {shapes}, expected one shape")
        images = torch.cat(pieces).to(device, dtype)
        if len(images) < fewest:
            raise PascalError(f"batches: got {len(images)} images, expected at least {fewest}; a thousand serve well")
        self._fit(images[:1])
        order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed)).to(device)
        kept_back = max(round(held_out * len(images)), 1)
        return Images(images[order[kept_back:]], images[order[:kept_back]])

    def _fit(self, image: Tensor) -> None:
        """How many images go through at once; and whether the network can read them at all."""
        try:
            prefix = self._replay.start(image, self._neurons_of(self.start))
        except RuntimeError as error:
            expected = "expected images of the shape that the network reads"
            raise PascalError(f"batches: images of shape {tuple(image.shape[1:])}: {error}; {expected}") from error
        if prefix.logits.ndim < 2 or prefix.logits.shape[1] < 2:
            shape = tuple(prefix.logits.shape)
            raise PascalError(f"ann: its output has shape {shape}, expected logits (N, classes) of two classes or more")
        self.piece = max(1, min(_LARGEST_PIECE, _MEMORY // max(prefix.bytes, 1)))

    def _neurons_of(self, assignment: Assignment) -> dict[str, nn.Module]:
        return {path: self.neuron(path, setting) for path, setting in assignment.items()}


def levels_of(assignment: Assignment) -> dict[str, int]:
    """Levels by layer."""
    return {path: setting.levels for path, setting in assignment.items()}
