"""`calibrate`: a trained ReLU network becomes the run's, without training."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pascal.calibration.bounds import Method, least_images
from pascal.pipeline.parameters.base import Count, Part

if TYPE_CHECKING:
    from pascal.pipeline.parameters.runs import Run


class Calibrate(Part):
    """calibration without labels"""

    method: Method | Literal["auto"] = Field("ridge", description="auto takes the best on held-out images")
    images: Count = Field(1000, description="training images to calibrate on")


def faults(run: "Run") -> Iterator[str]:
    """What one key alone does not show."""
    calibrate, where = run.settings.calibrate, f"runs.{run.name}"
    if calibrate is None:
        return
    if run.settings.weights is None:
        yield f"{where}.calibrate: got it without weights, expected the file of a trained network in {where}.weights"
    if calibrate.images < (least := least_images(calibrate.method)):
        yield f"{where}.calibrate.images: got {calibrate.images}, expected at least {least} for {calibrate.method}"
    if epochs := run.written.get("train", {}).get("epochs"):
        yield f"{where}.train.epochs: got {epochs} beside calibrate, expected one or the other: nothing is trained here"
