"""Values of all images between two layers: in memory up to a budget, beyond it on disk, in half precision."""

from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

import numpy as np
import torch
from torch import Tensor

BUDGET = 2**30  # bytes
_LARGEST_HALF = 3e4  # float16 ends at 65504

Key = tuple[str, str, int]  # which network, which value, which batch


class Store:
    """A dictionary of tensors whose memory does not grow with the number of images."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget, self._used = budget, 0
        self._values: dict[Key, Any] = {}
        self._folder = TemporaryDirectory(prefix="pascal-calibrate-")

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._folder.cleanup()

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __setitem__(self, key: Key, value: Any) -> None:
        self.drop(key)
        size = _bytes(value)
        if isinstance(value, Tensor) and self._used + size > self.budget:
            path = Path(self._folder.name) / f"{key[0]}-{key[1]}-{key[2]}.npy"
            half = value.half() if float(value.abs().max()) < _LARGEST_HALF else value
            np.save(path, half.cpu().numpy(), allow_pickle=False)
            value = (path, value.dtype, value.device)
        else:
            self._used += size
        self._values[key] = value

    def __getitem__(self, key: Key) -> Any:
        value = self._values[key]
        if not _is_file(value):
            return value
        path, dtype, device = value
        return torch.from_numpy(np.load(path, allow_pickle=False)).to(device, dtype)

    def drop(self, key: Key) -> None:
        """Forget a value, if it is there."""
        value = self._values.pop(key, None)
        if _is_file(value):
            value[0].unlink()
        else:
            self._used -= _bytes(value)


def _is_file(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], Path)


def _bytes(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.numel() * value.element_size()
    return sum(map(_bytes, value)) if isinstance(value, tuple | list) else 0
