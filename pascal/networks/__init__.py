"""The paper's networks, built with QCFS activations."""

from pascal.networks.build import NETWORKS, build_network

__all__ = ["NETWORKS", "build_network"]
