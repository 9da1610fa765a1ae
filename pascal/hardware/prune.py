"""Magnitude pruning: LoAS and SparTen skip zero weights, so the weights' density decides their cost."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pascal.errors import PascalError
from pascal.hardware.trace import Trace


def prune_weights(weights: NDArray, density: float) -> NDArray:
    """A copy that keeps the round(density · size) largest magnitudes; among equals the first ones stay."""
    if not 0 <= density <= 1:
        raise PascalError(f"density: got {density!r}, expected a number from 0 to 1")
    flat = weights.reshape(-1)
    # int8 has no |−128|
    magnitudes = np.abs(flat.astype(np.int16) if np.issubdtype(flat.dtype, np.integer) else flat)
    kept = np.argsort(-magnitudes, kind="stable")[: round(density * flat.size)]
    pruned = np.zeros_like(flat)
    pruned[kept] = flat[kept]
    return pruned.reshape(weights.shape)


def prune_trace(trace: Trace, density: float) -> Trace:
    """The same spikes on pruned weights, layer by layer: an estimate, since a pruned network spikes differently."""
    for layer in trace.layers:
        if layer.weights.dtype == np.bool_:
            raise PascalError(f"{layer.path}: the trace holds masks, not INT8 weights; magnitudes are needed to prune")
    layers = tuple(replace(layer, weights=prune_weights(layer.weights, density)) for layer in trace.layers)
    return replace(trace, layers=layers)
