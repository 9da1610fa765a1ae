"""Every method on one network, on the same images, in one accounting."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from torch import Tensor, nn
from tqdm import tqdm

from pascal.baselines.accounting import Tally
from pascal.baselines.discovery import METHODS
from pascal.baselines.method import Field, Method
from pascal.baselines.recording import Recording
from pascal.baselines.row import Row, failed, row_of
from pascal.checks import check_several
from pascal.energy import EnergyCosts
from pascal.errors import PascalError
from pascal.graph.measure import layer_shapes
from pascal.inference import check_model, image_batches, labelled_batches

Methods = Sequence[str] | Mapping[str, Sequence[int]]


def compare(
    ann: nn.Module,
    batches: Iterable[Any],
    methods: Methods | None = None,
    timesteps: Sequence[int] = (1, 2, 4, 8, 16, 32, 64),
    presimulation: int = 4,
    calibration: Iterable[Any] | None = None,
    training: Iterable[Any] | None = None,
    epochs: int = 10,
    scratch: bool = False,
    costs: Mapping[str, EnergyCosts] | None = None,
    store: str | PathLike[str] | None = None,
    bar: bool = False,
) -> list[Row]:
    """Rows of the chosen methods; by default of all for which there is what they need.

    `methods`: names, or names with timesteps of their own. `calibration`: training images, for what must be chosen;
    `training`: labelled batches, for `tet`, from the network's weights or from `scratch`. `store`: a folder that keeps
    the runs, so that a comparison goes on where it stopped. A method that cannot do this network has a row that says
    why; if none can, that is an error.
    """
    check_model(ann, "ann")
    if isinstance(batches, Iterator):
        raise PascalError("batches: got an iterator, expected a list or a DataLoader: every method reads them again")
    shown = None if calibration is None else list(image_batches(calibration))
    labelled = None if training is None else list(labelled_batches(training))
    kept = None if store is None else Path(store)
    moments = check_several(timesteps, "timesteps", "numbers of timesteps, such as (1, 2, 4)")
    field = Field(tuple(moments), presimulation, shown, labelled, epochs, scratch, kept)
    fields = _fields(field, methods)
    with ExitStack() as stack:
        folder = kept or Path(stack.enter_context(TemporaryDirectory()))
        meeting = _Meeting(ann, batches, costs or {}, folder, bar)
        rows = [row for name, own in fields.items() for row in meeting.rows(name, own)]
    if all(row.problem for row in rows):
        raise PascalError("; ".join(row.problem for row in rows))
    return rows


def _fields(field: Field, methods: Methods | None) -> dict[str, Field]:
    """What each method is given; what is wrong with it is told before any of them runs."""
    if methods is None:
        able = {name: all(getattr(field, need) is not None for need in made.needs) for name, made in METHODS.items()}
        methods = [name for name, possible in able.items() if possible]
    if not isinstance(methods, Mapping) or not methods:
        methods = check_several(methods, "methods", f"some of {', '.join(METHODS)}")
    grids = methods if isinstance(methods, Mapping) else dict.fromkeys(methods)
    fields = {}
    for name, grid in grids.items():
        if name not in METHODS:
            raise PascalError(f"methods: got {name!r}, expected some of {', '.join(METHODS)}")
        fields[name] = field if grid is None else replace(field, timesteps=tuple(grid))
        METHODS[name].check(fields[name])
    return fields


class _Meeting:
    """One network and its images, on which methods meet."""

    def __init__(
        self, ann: nn.Module, batches: Iterable[Any], costs: Mapping[str, EnergyCosts], folder: Path, bar: bool
    ) -> None:
        self.ann, self.batches, self.costs, self.folder, self.bar = ann, batches, costs, folder, bar
        first = next(image_batches([batches] if isinstance(batches, Tensor) else batches), None)
        if first is None:
            raise PascalError("batches: got no images, expected at least one batch")
        self.workloads = layer_shapes(ann, tuple(first.shape[1:]))

    def rows(self, name: str, field: Field) -> Iterator[Row]:
        """Of one method; what goes wrong names it and stops no other."""
        try:
            for method in METHODS[name].variants(self.ann, field):
                yield from self._measure(method)
        except PascalError as error:
            yield failed(METHODS[name], f"{name}: {str(error).removeprefix(f'{name}: ')}")

    def _measure(self, method: Method) -> Iterator[Row]:
        recording = Recording(method.source, self.ann, self.folder)
        tallies = [Tally(method, answer, recording.counted) for answer in method.answers]
        with tqdm(desc=method.label, unit="image", disable=None if self.bar else True, leave=False) as bar:
            for arrays in recording.batches(self.batches, bar.update):
                for tally in tallies:
                    tally.add(arrays)
        for tally in tallies:
            yield row_of(method, tally, self.workloads, self.costs)
