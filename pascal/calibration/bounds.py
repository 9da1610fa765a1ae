"""What a calibration may be asked for, without torch: planning knows it too."""

from typing import Literal, get_args

Method = Literal["max", "percentile", "mse", "channel", "ridge"]
METHODS: tuple[str, ...] = get_args(Method)
LEAST_IMAGES = 32  # of the ridge, and of "auto", which tries it


def least_images(method: str) -> int:
    """How many images a method needs."""
    return LEAST_IMAGES if method in ("ridge", "auto") else 1
