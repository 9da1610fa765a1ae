"""`datasets`: which images, and which of them are set aside."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, Strict

from pascal.pipeline.parameters.base import Part, Seed, Whole

_DATASETS = Path(__file__).parents[2] / "data" / "datasets.py"


def _sources() -> tuple[str, ...]:
    """The keys of DATASETS, read from the text: to import them would import torch."""
    for node in ast.parse(_DATASETS.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DATASETS":
            return tuple(ast.literal_eval(key) for key in node.value.keys)  # type: ignore[attr-defined]
    raise LookupError(f"{_DATASETS} defines no DATASETS")


SOURCES = _sources()
if TYPE_CHECKING:
    Source = str
else:
    Source = Literal[SOURCES]

Colour = Annotated[
    tuple[Annotated[float, Field(ge=1e-6, le=1000)], ...],
    Strict(False),
    Field(min_length=3, max_length=3, description="red, green and blue of full scale 1"),
]


class Dataset(Part):
    """a data set"""

    source: Source | None = Field(None, description="by default the data set's own name")
    validation: Whole | None = Field(None, description="images set aside from training")
    seed: Seed = Field(0, description="which images are set aside")
    mean: Colour | None = None
    std: Colour | None = None


def faults(name: str, dataset: Dataset) -> Iterator[str]:
    """What one key alone does not show."""
    if dataset.source is None and name not in SOURCES:
        yield f"datasets.{name}: got {name!r}, expected one of {', '.join(SOURCES)}, as `source` or as the name"
    if (dataset.mean is None) != (dataset.std is None):
        yield f"datasets.{name}: got only one of mean and std, expected both or neither"
