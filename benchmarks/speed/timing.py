"""Ratios of times within one run: all take turns, so that all meet the same moods of the machine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

from tqdm import tqdm


@dataclass(frozen=True)
class Times:
    """Seconds of each turn, by the clock on the wall and by the processor's."""

    wall: list[float]
    cpu: list[float]

    @property
    def wall_ms(self) -> float:
        """The median turn."""
        return 1e3 * median(self.wall)

    def ratios(self, unit: "Times") -> dict[str, float]:
        """Medians of the turns' own ratios to `unit`, and the middle half of those on the wall."""
        wall = sorted(own / other for own, other in zip(self.wall, unit.wall, strict=True))
        cpu = median(own / other for own, other in zip(self.cpu, unit.cpu, strict=True))
        low, high = wall[len(wall) // 4], wall[-1 - len(wall) // 4]
        return {"wall_ratio": median(wall), "wall_low": low, "wall_high": high, "cpu_ratio": cpu}


def take_turns(works: Mapping[str, Callable[[], object]], repeats: int, title: str) -> dict[str, Times]:
    """Times of each work, after one turn to warm up."""
    times = {name: Times([], []) for name in works}
    for turn in tqdm(range(repeats + 1), title, leave=False, disable=None):
        for name, work in works.items():
            wall, cpu = perf_counter(), process_time()
            work()
            if turn:
                times[name].wall.append(perf_counter() - wall)
                times[name].cpu.append(process_time() - cpu)
    return times
