"""What a person sees of a training: a bar on a terminal, plain lines in a log."""

import sys
from time import monotonic
from types import TracebackType

from tqdm import tqdm

from pascal.training.records import EpochRecord, Tally

_LINE_SECONDS = 60.0  # between the lines that a long epoch leaves in a log


class Progress:
    """A bar over all steps of a training: loss, accuracy, images per second, time left."""

    def __init__(self, done: int, steps: int, epochs: int, shown: bool) -> None:
        terminal = sys.stderr.isatty()
        self._bar = tqdm(total=steps, initial=done, unit="step", dynamic_ncols=True, disable=not (shown and terminal))
        self._lines, self._epochs = shown and not terminal, epochs
        self._left, self._steps, self._images = steps - done, 0, 0
        self._began = self._told = monotonic()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.close()

    def step(self, where: str, images: int, tally: Tally) -> None:
        """One step more."""
        self._steps += 1
        self._images += images
        text = f"loss {tally.mean_loss:.4f}, accuracy {tally.accuracy:.2%}"
        self._bar.set_description_str(where, refresh=False)
        self._bar.set_postfix_str(f"{text}, {self._images_per_second():.0f} images/s", refresh=False)
        self._bar.update()
        if monotonic() - self._told > _LINE_SECONDS:
            self._tell(f"{where}: {text}")

    def epoch(self, record: EpochRecord) -> None:
        """One epoch more."""
        self._tell(
            f"epoch {record.epoch}/{self._epochs}: loss {record.loss:.4f}, accuracy {record.train_accuracy:.2%}, "
            f"validation {record.validation_accuracy:.2%}, lr {record.learning_rate:.3g}"
        )

    def _images_per_second(self) -> float:
        return self._images / max(monotonic() - self._began, 1e-9)

    def _tell(self, text: str) -> None:
        self._told = monotonic()
        if self._lines:
            left = (self._told - self._began) / max(self._steps, 1) * (self._left - self._steps)
            line = f"{text}, {self._images_per_second():.0f} images/s, {tqdm.format_interval(left)} left"
            print(line, file=sys.stderr, flush=True)
