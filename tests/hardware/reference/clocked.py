"""Units that spend clocks: a PE or a neuron unit runs one process at a time, a generator of its states."""

from collections.abc import Callable, Iterable, Iterator

Process = Callable[[], Iterator[str]]


class Clocked:
    """A unit that knows whether its coming clock is taken."""

    def __init__(self) -> None:
        self._process: Iterator[str] = iter(())
        self._next: str | None = None

    @property
    def busy(self) -> bool:
        """Whether the coming clock is taken."""
        return self._next is not None

    def start(self, process: Iterator[str]) -> None:
        """Begin; a process without clocks is over at once."""
        self._process = process
        self._next = next(process, None)

    def clock(self) -> str | None:
        """Spend one clock; returns the state it was spent in."""
        state = self._next
        self._next = next(self._process, None) if self.busy else None
        return state


def chained(processes: Iterable[Process]) -> Iterator[str]:
    """One after another; each begins when the one before has ended."""
    for process in processes:
        yield from process()
