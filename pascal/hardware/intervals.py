"""Bootstrap intervals over images: what other images of the same kind might have given."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float | None, float | None]


def ratio_interval(
    above: NDArray, below: NDArray, seed: int, confidence: float = 0.95, resamples: int = 2000
) -> Interval:
    """Percentile bootstrap over images of the ratio of means; one image has no interval."""
    if len(above) < 2:
        return None, None
    from scipy import stats  # takes a second, and one image needs none

    result = stats.bootstrap(
        (above, below),
        lambda a, b, axis: ratio(a.mean(axis), b.mean(axis)),
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def mean_interval(values: NDArray, seed: int = 0) -> Interval:
    """The same for a mean."""
    return ratio_interval(values, np.ones_like(values), seed)


def ratio(above: Any, below: Any) -> Any:
    """A machine may charge nothing in a scope; 0/0 is not a number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(above, below)
