"""Calibrated networks from their files; a module of its own, for stages of other networks need none of the graph."""

from collections.abc import Mapping

from torch import Tensor, nn

from pascal.calibration.state import restore


def calibrated_network(network: nn.Module, tensors: Mapping[str, Tensor]) -> nn.Module:
    """What calibration made of a run's network."""
    return restore(network, tensors)
