"""One output neuron on its PE: pseudo-accumulator, corrections and FIFO of LoAS, or the accumulator of SparTen."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from pascal.accelerators.accelerator import Accelerator
from tests.hardware.reference.neuron import NeuronUnit
from tests.hardware.reference.records import ReferenceLayer, ReferenceResult, spread

_FIFO_DEPTH = 8


@dataclass(frozen=True)
class Job:
    """A layer on a machine: LoAS unrolls trains, `held` timesteps per pass; all else is multiplied."""

    layer: ReferenceLayer
    accelerator: Accelerator
    unit: NeuronUnit
    result: ReferenceResult
    held: int

    @property
    def unrolled(self) -> bool:
        """Whether spikes are accumulated for all timesteps at once."""
        return self.accelerator.machine == "loas" and not self.layer.pixels and not self.layer.graded

    @property
    def sums(self) -> int:
        """Sums kept apart: LoAS one per timestep, SparTen one."""
        return len(self.layer.trains[0][0]) if self.accelerator.machine == "loas" else 1

    @property
    def passes(self) -> int:
        """How often the fibers are streamed; LoAS multiplies one timestep of graded currents at a time."""
        return -(-self.sums // self.held) if self.unrolled else self.sums

    @property
    def chunks(self) -> int:
        """Chunks of K."""
        return -(-len(self.layer.weights[0]) // self.accelerator.chunk)


class OutputNeuron:
    """The processes of one neuron, each a generator of states."""

    def __init__(self, job: Job, row: int, n: int) -> None:
        self.job, self.row, self.n = job, row, n
        self.trains, self.weights = job.layer.trains[row], job.layer.weights[n]
        self.timesteps = len(self.trains[0])
        self.sums = [0] * job.sums
        self.pseudo = [0] * job.passes
        self.fifo: deque[tuple[int, int, int]] = deque()
        self.age = 0
        self.events = job.result.events
        for timestep, share in enumerate(spread(job.layer.bias[n], len(self.sums))):
            self._add(timestep, share, "bias_add")
        if job.unrolled:
            self.events["spike_add"] += sum(map(sum, self.trains))
        else:
            self.events["dense_mac"] += job.passes * len(self.weights)

    def matched(self, chunk: int) -> list[int]:
        """Positions of one chunk with both an input and a weight; only trains are ever taken as zero."""
        size = self.job.accelerator.chunk
        positions = range(chunk * size, min((chunk + 1) * size, len(self.weights)))
        dense = self.job.layer.pixels or self.job.layer.graded
        return [k for k in positions if self.weights[k] and (dense or any(self.trains[k]))]

    def compute(self) -> Iterator[str]:
        """All chunks, then drain."""
        for chunk in range(self.job.chunks):
            yield from self.join(chunk)
        yield from self.drain()

    def join(self, chunk: int) -> Iterator[str]:
        """All passes over one chunk."""
        for number in range(self.job.passes):
            yield from self._join_once(chunk, number)

    def _join_once(self, chunk: int, number: int) -> Iterator[str]:
        """Load the bitmasks, find the matches, accumulate one per clock while the laggy prefix-sum runs."""
        profile = self.job.accelerator.join
        self.events["bitmask_load"] += 2
        for _ in range(profile.sched_cycles):
            yield from self._clock("sched")
        positions = deque(self.matched(chunk))
        if not positions:
            for _ in range(profile.empty_cycles):
                yield from self._clock("join")
            return
        self.events["laggy_prefix_sum"] += self.job.unrolled
        ready, clocks = self.age + profile.lag_cycles, 0
        while positions or clocks < profile.lag_cycles:
            if clocks >= profile.fill_cycles and positions:
                self._match(positions.popleft(), number, ready)
            clocks += 1
            yield from self._clock("join")

    def drain(self) -> Iterator[str]:
        """Residual words, then the rest of the corrections, then hand over."""
        paths = self.job.layer.residual
        for _ in range(self.job.passes * (len(paths) + self.job.accelerator.join.drain_cycles)):
            yield "drain"
        for path in paths:
            word = path[self.row][self.n]
            for timestep, spikes in enumerate(self._apart(word)):
                self._add(timestep, spikes * self.job.layer.step, "residual_add")
        while self.fifo:
            self._correct(*self.fifo.popleft()[:2])
        if self.job.unrolled:
            for timestep in range(self.timesteps):
                self.sums[timestep] += self.pseudo[timestep // self.job.held]
        self.job.result.sums[self.row, self.n] = self.sums

    def fire(self) -> Iterator[str]:
        """The neuron unit's clocks."""
        spikes = self.job.result.spikes[self.row, self.n] = []
        yield from self.job.unit.run(self.sums, self.job.layer.pixels, spikes)

    def _clock(self, state: str) -> Iterator[str]:
        if self.fifo and self.fifo[0][2] <= self.age:
            self._correct(*self.fifo.popleft()[:2])
        self.age += 1
        yield state

    def _match(self, k: int, number: int, ready: int) -> None:
        names = ["match", "buffer_read", "fast_prefix_sum"]
        if self.job.unrolled:
            self.pseudo[number] += self.weights[k]
            self.fifo.append((k, number, ready))
            if len(self.fifo) > _FIFO_DEPTH:
                raise AssertionError("the correction FIFO overflows: corrections would stall the joins")
            names += ["pseudo_add", "fifo_entry"]
        else:
            self._add(number, self.weights[k] * self._apart(self.trains[k])[number], "accumulate")
            names += ["multiply"] + ["fast_prefix_sum"] * (self.job.accelerator.machine == "sparten")
        self.events.update(names)

    def _correct(self, k: int, number: int) -> None:
        """Subtract w from the timesteps of this pass without a spike."""
        held = self.job.held
        for timestep in range(number * held, min((number + 1) * held, self.timesteps)):
            if not self.trains[k][timestep]:
                self._add(timestep, -self.weights[k], "correction_add")

    def _apart(self, train: list[int]) -> list[int]:
        """As many values as sums are kept: each timestep's, or their total."""
        return train if self.job.sums > 1 else [sum(train)]

    def _add(self, timestep: int, value: int, event: str) -> None:
        self.sums[timestep] += value
        self.events[event if self.job.unrolled else "accumulate"] += 1
