"""Reference neuron units: generators that perform the paper's algorithms on integers, one `yield` per clock."""

from collections import Counter
from collections.abc import Iterator

from pascal.accelerators.accelerator import Accelerator
from tests.hardware.reference.records import Spikes, spread


class NeuronUnit:
    """Turns the sums of one output neuron into its spikes, clock by clock, and counts what it does."""

    def __init__(self, accelerator: Accelerator, neuron: str, step: int, levels: int | None, events: Counter) -> None:
        self.accelerator = accelerator
        self.neuron = neuron
        self.step = step
        self.levels = levels
        self.events = events

    def run(self, sums: list[int], pixels: bool, spikes: Spikes) -> Iterator[str]:
        """The unit's clocks; `sums` are O[t] per timestep, `spikes` is filled."""
        if self.levels is None:
            return
        if self.neuron == "qcfs":
            yield from self._qcfs(sum(sums), self.levels, spikes)
        elif self.neuron == "if":
            # The plain network sees the image again at every timestep.
            yield from self._plain(sums * self.levels if pixels else sums, spikes)
        elif pixels and self.accelerator.image_timesteps == "one":
            yield from self._algorithm_2(sums[0], self.levels, spikes)
        else:
            yield from self._algorithm_1(spread(sums[0], self.levels) if pixels else sums, self.levels, spikes)

    def _qcfs(self, preactivation: int, levels: int, spikes: Spikes) -> Iterator[str]:
        self.events["qcfs"] += 1
        spikes.extend(_thermometer(self._level(preactivation, levels), levels))
        yield "neuron"

    def _plain(self, sums: list[int], spikes: Spikes) -> Iterator[str]:
        membrane = self.step // 2
        serial = self.accelerator.if_unit == "serial"
        for current in sums:
            membrane += current
            fired = membrane >= self.step
            membrane -= self.step * fired
            spikes.append(int(fired))
            self.events["membrane_update"] += 1
            if serial:
                yield "neuron"
        for _ in range(2 if serial else 1):  # the state machine of the serial unit, or the one clock of the unrolled
            yield "neuron"

    def _algorithm_2(self, preactivation: int, levels: int, spikes: Spikes) -> Iterator[str]:
        count = self._level(preactivation, levels)
        if self.accelerator.pasc_unit == "flat":
            yield from self._qcfs(preactivation, levels, spikes)
            return
        self.events["membrane_update"] += 1
        yield "neuron"
        yield from self._emit(count, levels, spikes)

    def _algorithm_1(self, sums: list[int], levels: int, spikes: Spikes) -> Iterator[str]:
        if self.accelerator.pasc_unit == "flat":
            self.events["membrane_update"] += len(sums)
            yield from self._qcfs(sum(sums), levels, spikes)
            return
        membrane, count = self.step // 2, 0
        for current in sums:
            membrane += current
            if membrane >= self.step:
                count, membrane = count + 1, membrane - self.step
            yield from self._counted()
        for _ in range(max(len(sums), levels) - 1):
            if membrane >= self.step:
                count, membrane = count + 1, membrane - self.step
            elif membrane < 0:
                count, membrane = count - 1, membrane + self.step
            yield from self._counted()
        yield from self._emit(count, levels, spikes)

    def _counted(self) -> Iterator[str]:
        self.events["membrane_update"] += 1
        self.events["counter_update"] += 1
        yield "neuron"

    def _emit(self, count: int, levels: int, spikes: Spikes) -> Iterator[str]:
        """Phase 3, one spike per clock."""
        membrane = count * self.step
        for _ in range(levels):
            fired = membrane >= self.step
            membrane -= self.step * fired
            spikes.append(int(fired))
            self.events["membrane_update"] += 1
            yield "neuron"

    def _level(self, preactivation: int, levels: int) -> int:
        """clip(⌊z/θ* + ½⌋, 0, L)."""
        return min(max((2 * preactivation + self.step) // (2 * self.step), 0), levels)


def _thermometer(count: int, levels: int) -> Spikes:
    return [int(timestep < count) for timestep in range(levels)]
