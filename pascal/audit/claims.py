"""The numbers that the paper prints, as printed, each with its place and, where it is wrong, with how it arose.

`fan_ins` names the list of the authors' script that a reported number of timesteps was computed from.
"""

from dataclasses import dataclass
from typing import Any

# What `pascal.build_network` takes to make each network of the audit.
AUDIT_NETWORKS: dict[str, dict[str, Any]] = {
    "vgg16-cifar10": {"name": "vgg16", "classes": 10, "image_size": 32},
    "vgg16-cifar100": {"name": "vgg16", "classes": 100, "image_size": 32},
    "vgg16-imagenet": {"name": "vgg16", "classes": 1000, "image_size": 224},
    "resnet18-cifar10": {"name": "resnet18", "classes": 10, "image_size": 32},
    "resnet18-cifar100": {"name": "resnet18", "classes": 100, "image_size": 32},
    "resnet34-imagenet": {"name": "resnet34", "classes": 1000, "image_size": 224},
}

TEST_IMAGES = {"cifar10": 10_000, "cifar100": 10_000, "imagenet": 50_000}

_VGG_CONVOLUTIONS = (27, *[576] * 2, *[1152] * 2, *[2304] * 3, *[4608] * 5)
AUTHORS_FAN_INS: dict[str, tuple[int, ...]] = {
    "vgg16-cifar": (*_VGG_CONVOLUTIONS, 512, 512, 512),
    "vgg16-imagenet": (*_VGG_CONVOLUTIONS, 25600, 4096, 4096),
    "resnet18": (288, *[2304] * 2, *[4608] * 2, *[9216] * 2, *[18432] * 2, 512),
    "resnet34": (216, *[2304] * 3, *[4608] * 4, *[9216] * 6, *[18432] * 3, 512),
}


@dataclass(frozen=True)
class Claim:
    """One printed number: what it counts, of which network, and where it stands."""

    quantity: str
    network: str
    dataset: str
    levels: tuple[int, ...]  # (L,) for a uniform network, () where none enters
    printed: str
    source: str
    reason: str = ""
    inputs: tuple[float, ...] = ()  # other printed numbers that enter the equation
    fan_ins: str = ""
    misattributed: bool = False  # the number follows, but from another network's figures

    @property
    def layer_levels(self) -> int | tuple[int, ...]:
        """The levels as `effective_timesteps` takes them."""
        return self.levels[0] if len(self.levels) == 1 else self.levels


VGG_C10_AL = (2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 4, 4, 2, 4, 4)
VGG_C10_HAND = (4, 4, 4, 4, 1, 1, 1, 1, 1, 1, 4, 4, 4, 4, 4)
VGG_C100_AL = (8, 4, 4, 1, 4, 4, 1, 1, 1, 1, 1, 4, 8, 8, 8)
VGG_IN_AL3 = (*[16] * 3, *[8] * 5, *[4] * 7)
VGG_IN_AL2 = (16, 16, 16, 8, 16, *[8] * 10)
RESNET_C10_AL = (4, 4, 4, 1, 4, 4, 4, 1, 4, 1, 1, 1, 1, 1, 1, 1, 4)
RESNET_C100_AL = (4, 2, 4, 1, 4, 2, 2, 1, 4, 2, 2, 1, 4, 1, 1, 1, 4)
RESNET_IN_AL = (16, 16, *[16, 8] * 13, *[8] * 5)

_VGG10, _VGG100, _VGG_IN = ("vgg16", "cifar10"), ("vgg16", "cifar100"), ("vgg16", "imagenet")
_RES10, _RES100, _RES_IN = ("resnet18", "cifar10"), ("resnet18", "cifar100"), ("resnet34", "imagenet")

_MACS, _ENERGY, _COSTS = "App. A.5–A.7, layer tables", "Sec. 4.2, energy table", "App. A.4, cost table"
_TOO_SMALL = "rows from block 2.1 conv2 on are too small by 4, 16 and 64, and by 8 in the 4.1 shortcut"
_SHARE = "follows from the MACs that are too small"

SHAPES = (
    Claim("MACs", *_VGG10, (), "332111872", _MACS),
    Claim("MACs", *_VGG100, (), "332480512", _MACS),
    Claim("MACs", *_VGG_IN, (), "15470264320", _MACS),
    Claim("MACs", *_RES10, (), "217584640", _MACS, _TOO_SMALL),
    Claim("MACs", *_RES100, (), "217630720", _MACS, _TOO_SMALL),
    Claim("layer-1 share", *_VGG10, (), "0.005", _ENERGY),
    Claim("layer-1 share", *_VGG100, (), "0.005", _ENERGY),
    Claim("layer-1 share", *_VGG_IN, (), "0.006", _ENERGY),
    Claim("layer-1 share", *_RES10, (), "0.008", _ENERGY, _SHARE),
    Claim("layer-1 share", *_RES100, (), "0.008", _ENERGY, _SHARE),
    Claim("QCFS layers", *_VGG10, (), "15", "Sec. 4.1, accuracy table"),
    Claim("QCFS layers", *_RES10, (), "17", "Sec. 4.1, accuracy table"),
    Claim("QCFS layers", *_RES_IN, (), "33", "Sec. 4.3, table of T_eff"),
    Claim("QCFS layers", *_RES_IN, (8,), "17", "Sec. 4.1, accuracy table", "17 levels are printed for 33 layers"),
)

ENERGY_RATIOS = tuple(
    Claim(f"Energy_ANN/Energy_SNN {costs}", *network, levels, printed, _ENERGY, inputs=inputs)
    for network, levels, inputs, fp32, int8 in (
        (_VGG10, (4,), (0.66, 0.005), "7.49", "11.03"),
        (_VGG100, (4,), (0.62, 0.005), "7.96", "11.70"),
        (_VGG_IN, (16,), (0.73, 0.006), "6.76", "9.94"),
        (_RES10, (8,), (0.86, 0.008), "5.72", "8.38"),
        (_RES100, (8,), (0.91, 0.008), "5.42", "7.95"),
    )
    for costs, printed in (("FP32", fp32), ("INT8", int8))
)

OPERATIONS = (
    Claim("FP32 add pJ", "", "", (), "0.9", _COSTS),
    Claim("FP32 mul pJ", "", "", (), "3.7", _COSTS),
    Claim("FP32 MAC pJ", "", "", (), "4.6", _COSTS),
    Claim("INT8 add pJ", "", "", (), "0.03", _COSTS),
    Claim("INT8 mul pJ", "", "", (), "0.2", _COSTS),
    Claim("INT8 MAC pJ", "", "", (), "0.23", _COSTS),
    # 3L−1, 2L−1, 5L−2 and L, evaluated at L = 4.
    Claim("PASC resets per neuron", "", "", (4,), "11", "Sec. 4.2"),
    Claim("PASC counter updates per neuron", "", "", (4,), "7", "Sec. 4.2"),
    Claim("PASC operations per neuron", "", "", (4,), "18", "Sec. 4.2"),
    Claim("IF operations per neuron", "", "", (4,), "4", "Sec. 4.2"),
    # 2·L_n − 1 for (L_{n−1}, L_n) = (8, 4).
    Claim("largest count after phase 2", "", "", (8, 4), "7", "App. A.1, mapping table",
          "holds only where L_{n−1} ≤ L_n: the count reaches L_{n−1} + max(L_{n−1}, L_n) − 1"),
    Claim("network r_E", *_VGG10, (4,), "1.001", "Sec. 4.2", "1.001 is the hardware simulator's figure"),
)  # fmt: skip

_SOTA, _OTHERS, _AL = "Sec. 4.4, comparison with QCFS", "Sec. 4.4, other works", "Sec. 4.3, table of T_eff"
_FC, _EXTRA = "fan-in 512 for every FC layer", "16 layers instead of 15"

TIMESTEPS = (
    Claim("T_norm", *_VGG10, (4,), "4.21", _SOTA, f"{_FC}; {_EXTRA}", fan_ins="vgg16-cifar"),
    Claim("T_norm", *_VGG10, (8,), "8.79", _OTHERS,
          f"{_FC}, and the unspiking last FC counted; 8.796 is cut off", fan_ins="vgg16-cifar"),
    Claim("T_norm", *_VGG_IN, (16,), "18.37", _SOTA, _EXTRA, fan_ins="vgg16-imagenet"),
    Claim("T_norm", *_RES10, (8,), "8.22", _OTHERS, "list of 10 ratios instead of 17, wrong C_i", fan_ins="resnet18"),
    Claim("T_norm", *_RES_IN, (8,), "8.17", _SOTA, "list of 18 ratios instead of 33", fan_ins="resnet34"),
    Claim("T_norm", *_RES_IN, (16,), "16.67", _OTHERS, "list of 18 ratios instead of 33", fan_ins="resnet34"),
    Claim("T_eff", *_VGG10, VGG_C10_AL, "2.13", _AL, _FC, fan_ins="vgg16-cifar"),
    Claim("T_eff", *_VGG100, VGG_C100_AL, "4.54", _AL, _FC, fan_ins="vgg16-cifar"),
    Claim("T_eff", *_VGG_IN, VGG_IN_AL3, "9.92", _AL, fan_ins="vgg16-imagenet"),
    Claim("T_eff", *_VGG_IN, VGG_IN_AL2, "12.40", _AL, fan_ins="vgg16-imagenet"),
    Claim("T_eff", *_RES10, RESNET_C10_AL, "3.14", _AL, "zip kept 10 of 17 layers", fan_ins="resnet18"),
    Claim("T_eff", *_RES100, RESNET_C100_AL, "2.63", _SOTA, "zip kept 10 of 17 layers", fan_ins="resnet18"),
    Claim("T_eff", *_RES_IN, RESNET_IN_AL, "12.94", _AL, "zip kept 18 of 33 layers", fan_ins="resnet34"),
)  # fmt: skip

LIST_LENGTHS = tuple(
    Claim("ratios averaged", *network, (), str(len(AUTHORS_FAN_INS[name])), "authors' script", "hand-typed list")
    for name, network in zip(AUTHORS_FAN_INS, (_VGG10, _VGG_IN, _RES10, _RES_IN), strict=True)
)

QUOTATIONS = (
    Claim("QCFS accuracy % at T=16", *_VGG10, (), "93.95", _SOTA, "misquoted: QCFS's own tables", inputs=(95.40,)),
    Claim("QCFS accuracy % at T=16", *_VGG100, (), "72.80", _SOTA, "misquoted: QCFS's own tables", inputs=(76.24,)),
    Claim("fewer timesteps ×", *_RES_IN, (), "56", "abstract", "1024 / 18.37 are the figures of VGG-16",
          inputs=(1024, 18.37), misattributed=True),
    Claim("T_norm of 74.31 %", *_RES_IN, (8,), "16.67", _OTHERS, "74.31 % was measured at L=8 (8.17)",
          fan_ins="resnet34"),
)  # fmt: skip
