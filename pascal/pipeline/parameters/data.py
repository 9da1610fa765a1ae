"""`datasets`: which images, and which of them are set aside."""

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

from pydantic import Field, Strict

from pascal.pipeline.parameters.base import Part, Seed, Whole

Source = Literal["digits", "cifar10", "cifar100", "imagenet"]
SOURCES: tuple[str, ...] = get_args(Source)

Colour = Annotated[
    tuple[Annotated[float, Field(gt=0, le=1000)], ...],
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
