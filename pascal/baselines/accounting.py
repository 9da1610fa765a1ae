"""One accounting for all methods: what each answer was, how long it took and what it cost."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pascal.baselines.method import Answer, Method, Seen
from pascal.baselines.recording import Arrays, seen_of


class Tally:
    """Sums over images for one answer of a method."""

    def __init__(self, method: Method, answer: Answer, counted: Sequence[int]) -> None:
        self.method, self.answer = method, answer
        self.place = counted.index(answer.timesteps) if answer.timesteps in counted else None
        self.images = self.labelled = self.right = self.agreeing = self.neurons = 0
        self.ran = self.synapses = self.seconds = 0.0
        self.memory = 0
        self.wrong: Any = 0  # by layer

    def add(self, arrays: Arrays) -> None:
        """Read the answer on one batch."""
        seen = seen_of(arrays)
        times = self.answer.times(seen)
        predictions = self._predictions(seen, times)
        self.images += len(times)
        self.agreeing += int((predictions == seen.expected).sum())
        if seen.labels is not None:
            self.labelled += len(seen.labels)
            self.right += int((predictions == seen.labels).sum())
        self.ran += float(times.sum())
        self.synapses += self._spent(torch.from_numpy(arrays["synapses"]), times)
        self.seconds += float(arrays["seconds"])
        self.memory = max(self.memory, int(arrays["memory"]))
        if self.place is not None:
            self.neurons += int(arrays["neurons"])
            self.wrong = self.wrong + arrays["wrong"][self.place]

    def _predictions(self, seen: Seen, times: Tensor) -> Tensor:
        if not self.answer.since:
            return seen.logits.argmax(-1).gather(0, times[None] - 1)[0]
        since = self.answer.since
        (last,) = times.unique().tolist()
        return (seen.logits[last - 1] * last - seen.logits[since - 1] * since).argmax(-1)

    def _spent(self, synapses: Tensor, times: Tensor) -> float:
        until = self.method.charged(times).clamp(max=len(synapses))
        return float(synapses.cumsum(0).gather(0, until[None] - 1).sum())

    @property
    def timesteps(self) -> float:
        """Those that images ran for, a mean; of methods in closed form, those that they stand for."""
        if self.answer.timesteps is None or self.answer.drains:
            return self.ran / self.images
        return self.answer.timesteps

    def mismatches(self) -> float | None:
        """The share of neurons that do not stand for the ANN's level."""
        return float(self.wrong.sum()) / self.neurons if self.neurons else None

    def first_mismatch(self) -> str | None:
        """The first layer that has one."""
        wrong = self.wrong.tolist() if self.neurons else []
        return next((layer for layer, count in zip(self.method.network.neurons, wrong, strict=False) if count), None)
