"""The networks of the paper's tables."""

import torch

from pascal.audit.claims import AUDIT_NETWORKS
from pascal.graph import layer_shapes
from pascal.networks import build_network
from pascal.workload import LayerWorkload


def audit_networks() -> dict[str, list[LayerWorkload]]:
    """Layer shapes of the networks that the audit needs; nothing is computed, no weights are made."""
    shapes = {}
    for key, description in AUDIT_NETWORKS.items():
        with torch.device("meta"):
            network = build_network(**description)
        size = description["image_size"]
        shapes[key] = layer_shapes(network, (3, size, size))
    return shapes
