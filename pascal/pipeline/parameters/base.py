"""What all parameters share: frozen parts, and numbers that refuse what only looks like one."""

from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, create_model
from pydantic_core import PydanticCustomError

MOST_LEVELS = 2**23  # up to here float32 tells half a level apart: pascal.neurons.qcfs, which needs torch


class Part(BaseModel):
    """A mapping of parameters: frozen, every key known, no value converted in silence."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


Count = Annotated[int, Field(ge=1, le=10**9)]
Whole = Annotated[int, Field(ge=0, le=10**9)]
Few = Annotated[int, Field(ge=1, le=4096)]  # of what each takes memory of its own
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]  # the largest that torch takes
Level = Annotated[int, Field(ge=1, le=MOST_LEVELS)]
Positive = Annotated[float, Field(ge=1e-6, le=1e6)]  # so that float32 divides by it
Cost = Annotated[float, Field(ge=0, le=1e9)]
Fraction = Annotated[float, Field(ge=0, lt=1)]

Item = TypeVar("Item")


def refuse(expected: str) -> PydanticCustomError:
    """The fault of a check of our own, in the words in which faults are told."""
    return PydanticCustomError("expected", "{expected}", {"expected": expected})


def _different(values: tuple[Item, ...]) -> tuple[Item, ...]:
    if len(set(values)) < len(values):
        raise PydanticCustomError("different", "the same one twice")
    return values


LevelList = Annotated[tuple[Level, ...], Strict(False), Field(min_length=1)]
Several = Annotated[
    tuple[Item, ...],
    Strict(False),
    AfterValidator(_different),
    Field(min_length=1, max_length=1000, json_schema_extra={"uniqueItems": True}),
]

Model = TypeVar("Model", bound=Part)


def partial(model: type[Model]) -> type[Model]:
    """The same keys, none of them required: what a run may say of what the defaults say in full."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        kind: Any = Annotated[(_partial_type(field.annotation), *field.metadata, field)]
        fields[name] = (kind, Field(default))
    made: Any = create_model(model.__name__, __base__=Part, __doc__=model.__doc__, **fields)
    return made


def _partial_type(annotation: Any) -> Any:
    """Of a part, or of a mapping from names to parts."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return partial(annotation)
    if get_origin(annotation) is dict:
        key, value = get_args(annotation)
        return dict.__class_getitem__((key, _partial_type(value)))
    return annotation
