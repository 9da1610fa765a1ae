"""What the paper prints of its hardware, as printed: VGG-16 on CIFAR-10 with L = T = 4, over the test set.

Appendix "Hardware Quantification". The audit, the comparison of machines and the design point `h1` read it here.
"""

from collections.abc import Mapping
from types import MappingProxyType

PRINTED: Mapping[str, str] = MappingProxyType(
    {
        "ANN energy mJ": "3724.865",
        "IF energy mJ": "445.47",
        "PASC energy mJ": "446.02",
        "IF neurons' energy mJ": "0.08",
        "PASC neurons' energy mJ": "0.63",
        "IF latency s": "0.40",
        "PASC latency s": "0.45",
    }
)


def printed_ratio(above: str, below: str) -> float:
    """One printed number over another."""
    return float(PRINTED[above]) / float(PRINTED[below])
