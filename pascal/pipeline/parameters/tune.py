"""`adapt.finetune`: what is trained once levels have changed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pascal.pipeline.parameters.base import Count, Part

if TYPE_CHECKING:
    from pascal.pipeline.parameters.adapt import Adapt
    from pascal.pipeline.parameters.runs import Run


class Gentle(Part):
    """a short training that leaves batch norms as they are"""

    steps: Count = Field(100, description="of a cosine schedule")
    learning_rate: float = Field(0.003, gt=0, le=1000, description="to begin with")


class Tuning(Part):
    """what is trained after levels change"""

    finetune: Literal["none", "gentle", "algorithm4"] = Field(
        "algorithm4",
        description="nothing, a few steps of the start's final network, or the rest of the epochs after p of them; the "
        "network before and after is compared on validation images, and the better one kept",
    )
    gentle: Gentle = Gentle.model_validate({})


def tuning_faults(run: "Run", adapt: "Adapt") -> Iterator[str]:
    """What one key alone does not show."""
    where, train = f"runs.{run.name}", run.settings.train
    written = run.written.get("adapt", {})
    if adapt.finetune != "gentle" and "gentle" in written:
        yield f"{where}.adapt.gentle: got it with finetune {adapt.finetune!r}, expected it with 'gentle' alone"
    if adapt.finetune != "algorithm4":
        if "epochs" in run.written.get("train", {}):
            why = f"finetune {adapt.finetune!r} goes on from the start's last epoch"
            yield f"{where}.train.epochs: got {train.epochs}, expected none: {why}"
        return
    if adapt.p == 0 and run.settings.weights is None:
        yield f"{where}.adapt.p: got 0, expected more: only weights trained elsewhere need no retraining"
    fewest, why = (2, "some to retrain, some to finetune") if adapt.p else (1, "to finetune")
    if train.epochs < fewest:
        yield f"{where}.train.epochs: got {train.epochs}, expected at least {fewest}: {why}"
