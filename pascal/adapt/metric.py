"""The AL metric of a layer: M = A · (g² + 1) · K (Section 3.4, eqs. 3–6)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pascal.adapt.bounds import FEWEST_BINS, k_fault, moments_fault
from pascal.checks import check_choice, check_number
from pascal.errors import PascalError


@dataclass(frozen=True)
class MetricTerms:
    """Agreement A, skewness g and kurtosis K of one layer; g and K are NaN where the layer is constant."""

    agreement: float
    skewness: float
    kurtosis: float

    @property
    def metric(self) -> float:
        """M = A · (g² + 1) · K: the higher, the fewer levels will do."""
        return self.agreement * (self.skewness**2 + 1) * self.kurtosis


def al_metric(histogram: Sequence[int], empty_below: float, moments: str = "levels") -> float:
    """M of one layer's histogram; bins with less than `empty_below` (α) of the total count as empty."""
    return metric_terms(histogram, empty_below, moments).metric


def layer_metrics(
    histograms: Mapping[str, Sequence[int]], k: float = 0.5, over: str = "layers", moments: str = "levels"
) -> dict[str, MetricTerms]:
    """The terms of every layer with α = k/|L_tot|; `over="bins"`: k / number of bins, as in the authors' script."""
    if over not in ("layers", "bins"):
        raise PascalError(f"over: got {over!r}, expected 'layers' or 'bins'")
    return {
        layer: metric_terms(histogram, _empty_below(k, over, histograms, layer), moments, layer)
        for layer, histogram in histograms.items()
    }


def _empty_below(k: float, over: str, histograms: Mapping[str, Sequence[int]], layer: str) -> float:
    """α of a layer, if this k gives one."""
    parts, named = (len(histograms), "layers") if over == "layers" else (len(histograms[layer]), f"bins of {layer}")
    if fault := k_fault(k, parts, named):
        raise PascalError(f"k: {fault}")
    return k / parts


def metric_readings(histograms: Mapping[str, Sequence[int]], over: str = "layers") -> list[dict[str, Any]]:
    """M of every layer for each of the appendix's k and each reading of the moments that the histograms allow.

    One layer alone has no α = 1/1, which would call every bin empty.
    """
    return [
        {"moments": moments, "k": k, "layer": layer, "metric": terms.metric}
        for moments in defined_moments(histograms)
        for k in _KS
        if k < len(histograms) or over == "bins"
        for layer, terms in layer_metrics(histograms, k, over, moments).items()
    ]


def defined_moments(histograms: Mapping[str, Sequence[int]]) -> list[str]:
    """The readings of the moments that these histograms have; frequencies need at least 4 bins."""
    return [reading for reading, bins in FEWEST_BINS.items() if all(len(h) >= bins for h in histograms.values())]


def metric_terms(
    histogram: Sequence[int], empty_below: float, moments: str = "levels", layer: str = "histogram"
) -> MetricTerms:
    """A, g and K; `moments` of the levels reached (the text), or of the bins' frequencies (the authors' script)."""
    counts = _checked(histogram, layer)
    check_choice(moments, "moments", sorted(_MOMENTS))
    return MetricTerms(agreement(counts, empty_below), *_MOMENTS[moments](counts, layer))


def agreement(counts: Sequence[int], empty_below: float) -> float:
    """Van der Eijk's A = 1 − (S − 1)/(K − 1): S of the K bins hold at least α of the total; the fullest always does."""
    if not 0 < check_number(empty_below, "empty_below") < 1:
        raise PascalError(f"empty_below: got {empty_below}, expected α between 0 and 1")
    alpha = Fraction(empty_below).limit_denominator(10**9)  # 0.1 means a tenth, not the float just above it
    filled = sum(count >= alpha * sum(counts) for count in counts)
    return float(1 - Fraction(max(filled, 1) - 1, len(counts) - 1))


def _moments_of_levels(counts: list[int], layer: str) -> tuple[float, float]:
    """g = m₃/s³, s² over n − 1; K = (n+1)n/((n−1)(n−2)(n−3)) · Σ(x−x̄)⁴/k₂², of the samples x behind the histogram."""
    samples = sum(counts)
    if samples < 4:
        raise PascalError(f"{layer}: got {samples} samples, expected at least 4 for a kurtosis")
    second, third, fourth = (central_sum(range(len(counts)), counts, power) for power in (2, 3, 4))
    if second == 0:
        return math.nan, math.nan
    n, variance = samples, second / (samples - 1)
    kurtosis = Fraction((n + 1) * n, (n - 1) * (n - 2) * (n - 3)) * fourth / variance**2
    return _skewness(third / n, variance), float(kurtosis)


def _moments_of_frequencies(counts: list[int], layer: str) -> tuple[float, float]:
    """g as above and K = m₄/σ⁴ − 3 + 3n²/((n−2)(n−3)), of the n bins' frequencies; both 0 where these are equal."""
    n = len(counts)
    if fault := moments_fault("frequencies", n, layer):
        raise PascalError(f"moments: {fault}")
    second, third, fourth = (central_sum(counts, [1] * n, power) for power in (2, 3, 4))
    if second == 0:
        return 0.0, 0.0
    kurtosis = n * fourth / second**2 - 3 + Fraction(3 * n * n, (n - 2) * (n - 3))
    return _skewness(third / n, second / (n - 1)), float(kurtosis)


_MOMENTS = {"levels": _moments_of_levels, "frequencies": _moments_of_frequencies}
_KS = (1.0, 0.75, 0.5)  # of the appendix's figure


def central_sum(values: Sequence[int], weights: Sequence[int], power: int) -> Fraction:
    """Σ w·(x − x̄)^power, exactly."""
    n, total = sum(weights), sum(w * x for x, w in zip(values, weights, strict=True))
    return Fraction(sum(w * (n * x - total) ** power for x, w in zip(values, weights, strict=True)), n**power)


def _skewness(third: Fraction, variance: Fraction) -> float:
    return float(third / variance) / math.sqrt(variance)


def _checked(histogram: Sequence[int], layer: str) -> list[int]:
    array = np.asarray(histogram)
    if array.ndim != 1 or len(array) < 2 or not np.issubdtype(array.dtype, np.integer):
        raise PascalError(f"{layer}: got {histogram!r}, expected a list of whole numbers, one per level 0..L")
    if array.min() < 0 or not array.any():
        raise PascalError(f"{layer}: got {array.tolist()}, expected counts >= 0, not all zero")
    return [int(count) for count in array]
