"""What the paper measured: accuracies, and energy and latency of its simulators. Targets for runs to meet."""

from pascal.accelerators.paper import PRINTED
from pascal.audit import claims as data
from pascal.audit.claims import Claim

_TABLE, _AL, _HARDWARE = "Sec. 4.1, accuracy table", "Sec. 4.3, table of T_eff", "App. A.10, over the test set"

_ACCURACIES = (
    ("vgg16", "cifar10", (4,), "95.66", "95.61", _TABLE),
    ("vgg16", "cifar10", (8,), "95.79", "95.82", _TABLE),
    ("vgg16", "cifar10", data.VGG_C10_HAND, "93.57", "93.62", _TABLE),
    ("vgg16", "cifar10", data.VGG_C10_AL, "", "93.73", _AL),
    ("resnet18", "cifar10", (8,), "96.51", "96.51", _TABLE),
    ("resnet18", "cifar10", data.RESNET_C10_AL, "", "95.34", _AL),
    ("vgg16", "cifar100", (4,), "76.28", "76.06", _TABLE),
    ("vgg16", "cifar100", (8,), "77.01", "76.77", _TABLE),
    ("vgg16", "cifar100", data.VGG_C100_AL, "", "74.07", _AL),
    ("resnet18", "cifar100", (8,), "78.43", "78.45", _TABLE),
    ("resnet18", "cifar100", data.RESNET_C100_AL, "76.38", "76.19", _TABLE),
    ("vgg16", "imagenet", (16,), "74.16", "74.22", _TABLE),
    ("vgg16", "imagenet", data.VGG_IN_AL2, "", "73.98", _AL),
    ("vgg16", "imagenet", data.VGG_IN_AL3, "", "71.188", _AL),
    ("resnet34", "imagenet", (8,), "74.182", "74.31", _TABLE),
    ("resnet34", "imagenet", data.RESNET_IN_AL, "", "75.78", _AL),
)

ACCURACIES = tuple(
    Claim(f"{kind} accuracy %", network, dataset, levels, printed, source)
    for network, dataset, levels, ann, snn, source in _ACCURACIES
    for kind, printed in (("ANN", ann), ("SNN", snn))
    if printed
)

HARDWARE = tuple(Claim(quantity, "vgg16", "cifar10", (4,), printed, _HARDWARE) for quantity, printed in PRINTED.items())
