"""The tables and figures of the report, told by their decorators; read from the text, so that planning imports none.

`name`, `caption`, `files` and `kinds` of a plan follow from a decorated function: what Snakemake makes, the captions of
the page, what MLflow and DVC keep.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pascal.errors import PascalError

# Of runs: trained or calibrated with one level for all, levels by the metric, by hand, by a plan.
KINDS = ("uniform", "calibrated", "derived", "given", "planned")
OVERVIEW = ("accuracy", "verify", "levels", "workload", "energy_summary")  # behind `results.overview`: tables see these
Section = Literal["figures", "tables"]
Make = TypeVar("Make", bound=Callable[..., Any])


@dataclass(frozen=True)
class Plan:
    """A table or figure: how to read it, the files of a run that it sees, and the kinds of run that have it."""

    name: str
    module: str
    caption: str
    files: tuple[str, ...] = ()
    per_run: bool = False
    kinds: tuple[str, ...] = KINDS


@dataclass(frozen=True)
class Curve:
    """A plot of DVC's over all runs: columns of one of their files, and what it is called."""

    file: str
    over: str
    quantity: str
    title: str


CURVES = {
    "training": Curve("train", "epoch", "validation_accuracy", "Accuracy on validation images"),
    "timesteps": Curve("accuracy_vs_timesteps", "timesteps", "accuracy", "Accuracy of plain IF on test images"),
}


def figure(
    caption: str, *, files: tuple[str, ...] = (), per_run: bool = False, kinds: tuple[str, ...] = KINDS
) -> Callable[[Make], Make]:
    """A function of `RunResults` is a figure: over all runs, or with `per_run` one for each run of these kinds."""
    return lambda make: make


def table(caption: str, *, files: tuple[str, ...] = ()) -> Callable[[Make], Make]:
    """A function of `RunResults` and the audit is a table over all runs; `files` beside those of the overview."""
    return lambda make: make


@cache
def plans(section: Section) -> dict[str, Plan]:
    """All figures or all tables by name: drop a file into the folder, and what it decorates is among them."""
    found: dict[str, Plan] = {}
    for path in sorted(Path(__file__).with_name(section).glob("*.py")):
        for plan in _read(path, section):
            if plan.name in found:
                raise PascalError(f"{path}: {plan.name!r} is taken by {found[plan.name].module}; choose another name")
            found[plan.name] = plan
    return found


def _read(path: Path, section: Section) -> Iterator[Plan]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        calls = [mark for mark in getattr(node, "decorator_list", ()) if _name(mark) == section.removesuffix("s")]
        if calls and isinstance(node, ast.FunctionDef):
            given = {"caption": calls[0].args[0]} if calls[0].args else {}
            given |= {word.arg: word.value for word in calls[0].keywords}
            try:
                facts = {key: ast.literal_eval(value) for key, value in given.items()}
                if section == "tables":
                    facts["files"] = (*OVERVIEW, *(file for file in facts.get("files", ()) if file not in OVERVIEW))
                yield Plan(node.name, path.stem, **facts)
            except (TypeError, ValueError) as error:
                raise PascalError(
                    f"{path}, {node.name}: {error}; write caption, files and kinds out: they are read without running"
                ) from error


def _name(mark: ast.expr) -> str:
    return mark.func.id if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) else ""
