"""`energy` and `hardware`: what operations cost, and which machines are simulated."""

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model, model_serializer

from pascal.accelerators.accelerator import CHOICES, MACHINES, POSITIVE, WHOLE, accelerator_from_params
from pascal.accelerators.presets import PRESETS
from pascal.accelerators.prices import CACTI, PRICE_SETS, Prices
from pascal.errors import PascalError
from pascal.pipeline.parameters.base import Cost, Count, Part
from pascal.pipeline.parameters.names import Name

if TYPE_CHECKING:
    from pascal.pipeline.parameters.runs import Run


class Operations(Part):
    """costs of an arithmetic"""

    bits: int = Field(ge=1, le=1024, description="bits of a weight, a membrane and a full-precision activation")
    add_pj: float = Field(gt=0, le=1e9)
    multiply_pj: Cost
    read_pj_per_byte: Cost
    write_pj_per_byte: Cost


Energy = Annotated[dict[Name, Operations], Field(min_length=1, description="the costs of each arithmetic")]


def _keys() -> dict[str, Any]:
    """What an accelerator's block may say, from the tables of the hardware itself."""
    choices = {key: Literal[tuple(map(str, allowed))] for key, allowed in CHOICES.items() if key != "machine"}  # type: ignore[misc]
    return {
        **choices,
        "memory": bool,
        **dict.fromkeys(WHOLE, Annotated[int, Field(ge=1, le=10**9)]),
        **dict.fromkeys(POSITIVE, Annotated[float, Field(gt=0, le=1e9)]),
        "timesteps": Annotated[int, Field(ge=1, le=10**6)] | None,
        "note": Annotated[str, Field(max_length=200)],
        "prices": Literal[tuple(PRICE_SETS)],
        "cell": Literal[("none", *dict.fromkeys(cell for _, cell in CACTI))],
        **{field.name: Cost for field in fields(Prices)},
    }


class _Said(Part):
    @model_serializer
    def _only_what_is_said(self) -> dict[str, Any]:
        """`timesteps: null` is a choice, a key that is not there none."""
        return {key: getattr(self, key) for key in sorted(self.model_fields_set)}


_MACHINE: dict[str, Any] = {key: (kind, None) for key, kind in _keys().items()}
Machine = create_model("Machine", __base__=_Said, __doc__="keys for one machine alone", **_MACHINE)
_BASE: Any = Annotated[Literal[tuple(PRESETS)], Field(description="the preset; pascal40 without one")]
_ACCELERATOR: dict[str, Any] = {"base": (_BASE, None), **_MACHINE, **dict.fromkeys(MACHINES, (Machine, None))}
Accelerator = create_model("Accelerator", __base__=_Said, __doc__="a preset and what is changed of it", **_ACCELERATOR)


class Hardware(Part):
    """the hardware simulation"""

    images: Count = Field(description="images simulated")
    weight_density: float = Field(
        1.0, gt=0, le=1, description="the share of each layer's INT8 weights that magnitude pruning keeps"
    )
    accelerators: dict[Name, Accelerator] = Field(min_length=1, description="each made by simulation of both machines")  # type: ignore[valid-type]


def block(name: str, accelerator: Part) -> dict[str, Any]:
    """An accelerator as `pascal.hardware` reads it."""
    return {"name": name, **accelerator.model_dump()}


def faults(run: "Run") -> Iterator[str]:
    """What one key alone does not show: values that do not go together."""
    for name, accelerator in run.settings.hardware.accelerators.items():
        try:
            for machine in MACHINES:
                accelerator_from_params(block(name, accelerator), machine)
        except PascalError as error:
            yield f"runs.{run.name}.hardware.accelerators.{name}: {error}"
