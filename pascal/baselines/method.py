"""What every method is: a network of its own neurons, the answers it gives, and what they cost."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pascal.baselines.network import Outcome, TimedNetwork
from pascal.errors import PascalError

METHODS: dict[str, type["Method"]] = {}


@dataclass(frozen=True)
class Field:
    """What all methods are given alike. Choices are made on `calibration` images (tensors) and weights trained on
    `training` batches (images and labels), never on the images of the comparison."""

    timesteps: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    presimulation: int = 4
    calibration: Iterable[Any] | None = None
    training: Iterable[Any] | None = None
    epochs: int = 10
    scratch: bool = False  # tet: whether weights start anew
    store: Path | None = None  # keeps what takes long to make
    made: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What several methods need, made once."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


@dataclass(frozen=True)
class Seen:
    """What a method said of some images: logits (T, N, classes) after each timestep, the last timestep of each image,
    the labels if there are any, and the ANN's predictions."""

    logits: Tensor
    lasts: Tensor
    labels: Tensor | None
    expected: Tensor


Times = Callable[[Seen], Tensor]  # the timestep, from 1, of each image's answer


@dataclass(frozen=True)
class Answer:
    """One way to read a method's output; `timesteps` (T_alg) is None where each image has its own."""

    label: str
    times: Times
    timesteps: int | None = None
    chosen: bool = True  # False: a point of the curve beside the chosen one
    since: int = 0  # timesteps whose logits are left out
    drains: bool = False  # whether images go on beyond T_alg, each as long as it fires


class Method(ABC):
    """A published method on one ANN. A subclass with a name is registered by being defined."""

    name: ClassVar[str] = ""
    paper: ClassVar[str]
    layer_by_layer: ClassVar[bool] = False  # else layers work at once, each on the timestep before
    needs: ClassVar[tuple[str, ...]] = ()  # of the field: calibration, training
    exact = False  # its counts are the ANN's levels

    label: str
    network: TimedNetwork
    answers: tuple[Answer, ...]
    longest: int  # timesteps of a run, about
    presimulation = 0

    def __init_subclass__(cls) -> None:
        if "name" in cls.__dict__:
            METHODS[cls.name] = cls

    @classmethod
    def variants(cls, ann: nn.Module, field: Field) -> Iterator["Method"]:
        """The instances that a comparison runs."""
        yield cls(ann, field)

    @classmethod
    def check(cls, field: Field) -> None:
        """Refuse what the field lacks, before anything runs."""
        check_timesteps(cls.name, field.timesteps)
        for need in cls.needs:
            given(cls.name, field, need)

    @abstractmethod
    def __init__(self, ann: nn.Module, field: Field) -> None: ...

    @abstractmethod
    def run(self, images: Tensor) -> Outcome:
        """All that the answers are read from."""

    @property
    def source(self) -> "Method":
        """The method whose run the answers are read from."""
        return self

    @property
    def settings(self) -> str:
        """All that a run depends on beside network and images: methods with the same share one."""
        return f"{self.label}, {self.longest} timesteps"

    @abstractmethod
    def neuron_operations(self, levels: int, timesteps: float) -> float:
        """Additions to membrane and counter, and comparisons that replace them, of one neuron for one image."""

    @abstractmethod
    def buffer_bits(self, levels: int, timesteps: float) -> float:
        """Bits that one neuron keeps beside its membrane of 32."""

    def total_timesteps(self, timesteps: float) -> float:
        """T_tot: with what is simulated before."""
        return self.presimulation + timesteps

    def charged(self, timesteps: Tensor) -> Tensor:
        """The timesteps whose spikes an answer after so many needs."""
        return timesteps

    def layer_timesteps(self, producer: int | None, levels: int, timesteps: float) -> float:
        """Of methods that work layer by layer: neuron timesteps of one layer, by its producer's levels and its own."""
        return self.total_timesteps(timesteps)

    def sequential_timesteps(self, timesteps: float) -> float:
        """S_seq: neuron timesteps on the critical path."""
        if not self.layer_by_layer:
            return self.total_timesteps(timesteps)
        return self.network.longest_path(lambda producer, own: self.layer_timesteps(producer, own, timesteps))

    def wavefront_timesteps(self, timesteps: float) -> float:
        """S_seq where a layer needs a timestep to hand its spikes on."""
        waits = 0 if self.layer_by_layer else self.network.depth - 1
        return self.sequential_timesteps(timesteps) + waits

    def seen(self, batches: Iterable[Tensor], expect: Callable[[Tensor], Tensor]) -> Seen:
        """All images of some batches; `expect` has the ANN's predictions."""
        outcomes = [(self.run(images).logits, expect(images)) for images in batches]
        logits = torch.cat([logits for logits, _ in outcomes], dim=1)
        lasts = torch.full(logits.shape[1:2], len(logits))
        return Seen(logits, lasts, None, torch.cat([expected for _, expected in outcomes]))


def given(name: str, field: Field, what: str) -> Iterable[Any]:
    """The images to choose by or to train on."""
    images: Iterable[Any] | None = getattr(field, what)
    if images is None:
        raise PascalError(f"{name}: got no {what} images, expected some of the training set; pass {what}=…")
    return images


def at_timestep(timesteps: int) -> Answer:
    """The answer of all images after so many timesteps, or after their last."""
    return Answer(f"T={timesteps}", lambda seen: seen.lasts.clamp(max=timesteps), timesteps)


def at_the_end(timesteps: int) -> Answer:
    """The only answer, which took so many timesteps."""
    return Answer(f"T={timesteps}", lambda seen: seen.lasts, timesteps)


def check_timesteps(name: str, timesteps: Iterable[int]) -> tuple[int, ...]:
    """Whole numbers from 1, ascending."""
    checked = tuple(timesteps)
    for value in checked:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise PascalError(f"{name}: timesteps: got {value!r}, expected whole numbers of at least 1")
    if not checked:
        raise PascalError(f"{name}: timesteps: got none, expected at least one")
    return tuple(sorted(set(checked)))
