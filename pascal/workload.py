"""What one weighted layer asks of hardware: the one record between the torch half and the arithmetic half."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_type_hints

from pascal.errors import PascalError

_LEAST = {  # of each number in these fields
    **dict.fromkeys(("input_shape", "output_shape", "kernel", "stride", "dilation", "groups"), 1),
    **dict.fromkeys(("producer_levels", "levels"), 1),
    **dict.fromkeys(("macs", "padding", "fan_in", "pool_operations", "neurons", "additions"), 0),
}


@dataclass(frozen=True)
class LayerWorkload:
    """One convolution or fully connected layer, per image; counts of spikes are means over images.

    The *producers* are the activations whose spikes arrive; without any, the layer reads real-valued pixels.
    The *activation* is the one that the layer's output reaches first; the readout reaches none.
    """

    path: str
    kind: Literal["conv", "linear"]
    input_shape: tuple[int, ...]  # (C_i, H_i, W_i), or (C_i,)
    output_shape: tuple[int, ...]  # (C_o, H_o, W_o), or (C_o,)
    kernel: tuple[int, ...] = ()  # (K_h, K_w); () for linear
    stride: tuple[int, ...] = ()
    padding: tuple[int, ...] = ()
    dilation: tuple[int, ...] = ()
    groups: int = 1
    macs: int = 0
    fan_in: int = 0  # weights that one output neuron reads: C_i/groups · K_h · K_w
    producers: tuple[str, ...] = ()
    producer_levels: int | None = None  # timesteps on the input edge; None: pixels, one timestep
    graded_input: bool = False  # real-valued currents arrive (no neuron in between): multiplies at each timestep
    producer_spikes_per_neuron: float | None = None  # mean count at this layer's own input; None if graded
    synaptic_operations: float | None = None  # input spikes × true fan-out
    nonzero_macs: float | None = None  # MACs whose input is not zero: an ANN that skips zeros does these
    pool_operations: int = 0  # elements read by pooling between producers and this layer
    activation: str | None = None
    levels: int | None = None
    arrivals: tuple[str, ...] = ()  # activations whose spikes reach the activation, identity shortcuts included
    neurons: int = 0  # elements of the activation; 0 for the readout and for a shortcut's projection
    spikes_per_neuron: float | None = None  # of the activation
    additions: int = 0  # element-wise additions where branches meet before the activation

    def __post_init__(self) -> None:
        """Refuse a layer that cannot be."""
        if not self.input_shape or not self.output_shape:
            raise PascalError(
                f"layer {self.path!r}: got shapes {self.input_shape} and {self.output_shape}, expected both"
            )
        for name, least in _LEAST.items():
            value = getattr(self, name)
            numbers = value if isinstance(value, tuple) else () if value is None else (value,)
            if any(number < least for number in numbers):
                raise PascalError(f"layer {self.path!r}: got {name}={value}, expected at least {least}")

    @property
    def is_input(self) -> bool:
        """Whether the layer reads pixels and therefore multiplies (the paper's first layer)."""
        return self.producer_levels is None

    @property
    def is_readout(self) -> bool:
        """Whether no activation follows."""
        return self.activation is None

    @property
    def is_main_path(self) -> bool:
        """Whether the layer owns its activation's neurons; a shortcut's projection does not."""
        return self.neurons > 0

    @property
    def timesteps(self) -> int:
        """Timesteps on the input edge: the producer's levels, or one for an image."""
        return self.producer_levels or 1


def workload_row(workload: LayerWorkload) -> dict[str, Any]:
    """A flat row for CSV: tuples become `3x3`, producers are joined by `;`, None is an empty cell."""
    row = asdict(workload)
    for name, value in row.items():
        if _TYPES[name] == tuple[str, ...]:
            row[name] = ";".join(value)
        elif isinstance(value, tuple):
            row[name] = "x".join(map(str, value))
        elif value is None:
            row[name] = ""
    return row


def workloads_from_rows(rows: Iterable[Mapping[str, Any]]) -> list[LayerWorkload]:
    """The inverse of `workload_row`, refusing missing columns and unreadable cells by name."""
    return [_from_row(row, number) for number, row in enumerate(rows)]


_TYPES = get_type_hints(LayerWorkload)


def _from_row(row: Mapping[str, Any], number: int) -> LayerWorkload:
    values = {}
    for field in fields(LayerWorkload):
        if field.name not in row:
            raise PascalError(f"workload row {number}: column {field.name!r} is missing; rerun stage workload")
        try:
            values[field.name] = _cell(field.name, str(row[field.name]).strip())
        except (KeyError, OverflowError, ValueError) as error:
            raise PascalError(
                f"workload row {number}, column {field.name!r}: cannot read {row[field.name]!r}; rerun stage workload"
            ) from error
    return LayerWorkload(**values)


def _cell(name: str, text: str) -> Any:
    """A cell by the type of its field: a field of a new name is read as what it is."""
    kind = _TYPES[name]
    if kind == tuple[str, ...]:
        return tuple(text.split(";")) if text else ()
    if kind == tuple[int, ...]:
        return tuple(int(part) for part in text.split("x")) if text else ()
    if text in ("", "nan"):
        return None
    if kind is bool:
        return {"True": True, "False": False}[text]
    if kind in (float, float | None):
        return float(text)
    if kind in (int, int | None):
        return _whole(float(text))
    return text


def _whole(number: float) -> int:
    if not number.is_integer():
        raise ValueError(f"{number} is not a whole number")
    return int(number)
