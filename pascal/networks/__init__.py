"""The paper's networks, built with QCFS activations, and weights that others published."""

from pascal.networks.build import NETWORKS, build_network
from pascal.networks.published import LoadedWeights, load_weights

__all__ = ["NETWORKS", "LoadedWeights", "build_network", "load_weights"]
