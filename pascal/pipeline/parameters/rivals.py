"""`compare`: which rival methods meet on the trained network, and over which timesteps."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pascal.pipeline.parameters.base import Count, Part, Several, Whole

if TYPE_CHECKING:
    from pascal.pipeline.parameters.runs import Run


def _names() -> tuple[str, ...]:
    """The methods that there are, read from their files: planning imports no torch."""
    folder, found = Path(__file__).parents[2] / "baselines", []
    for path in sorted(folder.glob("*.py")):
        classes = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
        for line in (line for each in classes for line in each.body if isinstance(line, ast.Assign)):
            if getattr(line.targets[0], "id", "") == "name" and isinstance(line.value, ast.Constant):
                found.append(str(line.value.value))
    return tuple(found)


METHODS = _names()
Method = Literal[METHODS]  # type: ignore[valid-type]


class Compare(Part):
    """rival methods on the trained network, in one accounting"""

    images: Count | None = Field(1000, description="test images that all methods see; null for all")
    batch_size: Count = 100
    methods: Several[Method] = Field(
        ("pasc", "plain", "seenn", "confidence", "parallel", "group", "cos", "srp", "ftbc"),
        description="those that meet",
    )
    timesteps: Several[Count] = Field((1, 2, 4, 8), description="at which their answers are read")
    grids: dict[Method, Several[Count]] = Field({}, description="timesteps of methods that have others")
    presimulation: Whole = Field(4, description="timesteps that cos (ρ) and srp (τ) simulate first")
    calibration_images: Count = Field(128, description="training images by which methods choose")
    training_images: Whole = Field(0, description="training images with labels, of tet")
    epochs: Count = Field(10, description="of tet")
    scratch: bool = Field(False, description="whether tet starts with new weights and leaky neurons, as published")


def faults(run: "Run") -> Iterator[str]:
    """What one key alone does not show."""
    where, compare = f"runs.{run.name}.compare", run.settings.compare
    if "tet" in compare.methods and not compare.training_images:
        yield f"{where}.training_images: got 0, expected some: tet is among the methods"
    if "srp" in compare.methods and not compare.presimulation:
        yield f"{where}.presimulation: got 0, expected at least 1: srp is among the methods"
    if "ftbc" in compare.methods and compare.calibration_images < 2:
        yield f"{where}.calibration_images: got 1, expected at least 2: ftbc chooses by images of its own"
    for method in compare.grids:
        if method not in compare.methods:
            yield f"{where}.grids.{method}: got timesteps, expected none: {method} is not among the methods"
