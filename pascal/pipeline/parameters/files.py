"""Small files with the part of the parameters that each rule depends on: written when they change, read back typed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pascal.pipeline.canonical import dump
from pascal.pipeline.parameters.base import Part
from pascal.pipeline.parameters.data import Dataset
from pascal.pipeline.parameters.faults import explain
from pascal.pipeline.parameters.runs import Kind, Params, Run, Settings
from pascal.pipeline.parameters.stages import STAGES, stage_parts
from pascal.pipeline.stamps import write_if_changed


class ReportedRun(Part):
    """A run as tables, figures and MLflow know it."""

    run: str
    start: str | None
    kind: Kind
    source: str
    settings: Settings


class Report(Part):
    """The runs that tables and figures are of."""

    seeds: tuple[int, ...]
    runs: tuple[ReportedRun, ...]


def write_parts(params: Params, build: Path = Path("build")) -> dict[str, str]:
    """Every file that a rule has among its inputs, and its text; an equal one is left alone."""
    texts = {path.as_posix(): dump(part.model_dump(mode="json")) for path, part in _parts(params, build)}
    for path, text in texts.items():
        write_if_changed(Path(path), text)
    return texts


def _parts(params: Params, build: Path) -> Iterator[tuple[Path, Part]]:
    for name, dataset in params.datasets.items():
        yield build / "datasets" / f"{name}.json", dataset
    entries = [_reported(run, params) for run in params.runs.values()]
    yield build / "report.json", Report.model_construct(seeds=params.seeds, runs=tuple(entries))
    for entry in entries:
        yield build / "report" / f"{entry.run}.json", Report.model_construct(seeds=params.seeds, runs=(entry,))
        uniform = entry.settings.model_copy(update={"adapt": params.defaults.adapt})  # it has a histogram too
        parts = {"histogram": stage_parts(uniform)["histogram"]} | stage_parts(entry.settings)
        for stage, part in parts.items():
            yield build / "params" / entry.run / f"{stage}.json", part


def _reported(run: Run, params: Params) -> ReportedRun:
    source = params.datasets[run.settings.dataset].source
    return ReportedRun.model_construct(
        run=run.name, start=run.start, kind=run.kind, source=source, settings=run.settings
    )


def read_part(path: str) -> Any:
    """The parameters of a rule, by the place of their file."""
    *_, folder, above, name = ("", "", *Path(path).with_suffix("").parts)
    model = STAGES[name] if folder == "params" else Dataset if above == "datasets" else Report
    text = Path(path).read_text(encoding="utf-8")
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise ValueError("; ".join(explain(error, model))) from error
