"""A layer as the matrix product that the machines compute: M rows (output pixels), K columns, N filters."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pascal.errors import PascalError
from pascal.workload import LayerWorkload


@dataclass(frozen=True)
class Geometry:
    """A convolution over one map; a fully connected layer is one whose kernel covers the map."""

    channels: int
    height: int
    width: int
    filters: int
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1

    @property
    def output(self) -> tuple[int, int]:
        """(H_o, W_o)."""
        sizes = zip((self.height, self.width), self.kernel, self.stride, self.padding, self.dilation, strict=True)
        height, width = ((size + 2 * p - d * (k - 1) - 1) // s + 1 for size, k, s, p, d in sizes)
        return height, width

    @property
    def rows(self) -> int:
        """M = H_o·W_o."""
        return self.output[0] * self.output[1]

    @property
    def columns(self) -> int:
        """K = C_i/groups · K_h · K_w."""
        return self.channels // self.groups * self.kernel[0] * self.kernel[1]

    def offsets(self, k_order: str, map_shape: tuple[int, ...]) -> NDArray:
        """Place of each of the K columns in a group's flat map, from the place of the kernel's corner."""
        channel, down, right = np.indices((self.channels // self.groups, *self.kernel))
        places = (channel * map_shape[1] + down * self.dilation[0]) * map_shape[2] + right * self.dilation[1]
        return (places.transpose(1, 2, 0) if k_order == "pixmajor" else places).reshape(-1)


def geometry_of(
    workload: LayerWorkload, map_shape: tuple[int, ...], pool: tuple[int, int] = (1, 1), expand: bool = True
) -> Geometry:
    """The product over the map that the trace holds.

    A layer after a p×p average pool is, with `expand`, one with kernel p·k, stride p·s, padding p·p_0 and weights/p².
    """
    channels, height, width = map_shape if len(map_shape) == 3 else (*map_shape, 1, 1)
    height, width = height // pool[0], width // pool[1]
    if workload.kind == "linear":
        layer = Geometry(channels, height, width, workload.output_shape[0], kernel=(height, width))
    else:
        numbers = (workload.kernel, workload.stride, workload.padding, workload.dilation)
        if any(len(pair) != 2 for pair in numbers):
            raise PascalError(
                f"{workload.path}: kernel {workload.kernel}; only two-dimensional convolutions are lowered"
            )
        kernel, stride, padding, dilation = ((pair[0], pair[1]) for pair in numbers)
        layer = Geometry(
            channels, height, width, workload.output_shape[0], kernel, stride, padding, dilation, workload.groups
        )
    _check(workload, layer)
    return _expanded(workload, layer, pool) if expand and pool != (1, 1) else layer


def _expanded(workload: LayerWorkload, layer: Geometry, pool: tuple[int, int]) -> Geometry:
    if layer.dilation != (1, 1):
        raise PascalError(f"{workload.path}: average pooling before a dilated convolution; set average_pool: ideal")

    def times(pair: tuple[int, int]) -> tuple[int, int]:
        return pair[0] * pool[0], pair[1] * pool[1]

    height, width = times((layer.height, layer.width))
    kernel, stride, padding = times(layer.kernel), times(layer.stride), times(layer.padding)
    return Geometry(layer.channels, height, width, layer.filters, kernel, stride, padding, groups=layer.groups)


def _check(workload: LayerWorkload, layer: Geometry) -> None:
    made = (layer.filters, *layer.output) if workload.kind == "conv" else (layer.filters,)
    seen = (layer.channels, layer.height, layer.width)
    inputs = workload.input_shape if workload.kind == "conv" else (int(np.prod(workload.input_shape)),)
    found = seen if workload.kind == "conv" else (int(np.prod(seen)),)
    if found != inputs or made != workload.output_shape:
        raise PascalError(
            f"{workload.path}: the trace's map {seen} gives output {made}, the network says "
            f"{workload.input_shape} to {workload.output_shape}; rerun stage workload"
        )
