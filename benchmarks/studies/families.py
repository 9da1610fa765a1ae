"""The ReLU networks of timm and torchvision, one of each family, found by building all of them without memory."""

import inspect
import re
import warnings
from collections.abc import Callable
from functools import cache, partial

import timm
import torch
import torchvision
from torch import nn
from tqdm import tqdm

import pascal

SOURCES = ("pascal", "torchvision", "timm")
_OF_PASCAL = {"vgg16": 32, "resnet18": 32, "resnet20": 32, "resnet34": 64}
_VIDEO = ("r3d_18", "mc3_18", "r2plus1d_18", "s3d", "mvit_v1_b", "mvit_v2_s", "swin3d_t", "swin3d_s", "swin3d_b")


def make(source: str, name: str) -> nn.Module:
    """A model with random weights, in evaluation mode."""
    if source == "pascal":
        return pascal.build_network(name, image_size=_OF_PASCAL[name], width=0.25).eval()
    return _maker(source, name)().eval()


def shapes(source: str, name: str) -> list[tuple[int, ...]]:
    """Shapes of one image to try, small ones first."""
    if source == "pascal":
        return [(3, _OF_PASCAL[name], _OF_PASCAL[name])]
    if name in _VIDEO:
        return [(3, 8, 32, 32), (3, 16, 64, 64), (3, 16, 224, 224)]
    sizes = dict.fromkeys((32, 64, 96, 128, *([timm_size(name)] if source == "timm" else []), 224, 299))
    return [(3, size, size) for size in sizes]


def timm_size(name: str) -> int:
    """The size a model of timm was made for."""
    config = timm.get_pretrained_cfg(name)
    return config.input_size[-1] if config is not None else 224


def relu_families() -> list[tuple[str, str]]:
    """(source, model): of the models whose names differ in numbers only and that consist of the same kinds of modules,
    the one with the fewest parameters; only those that have a ReLU."""
    chosen = [("pascal", name) for name in _OF_PASCAL]
    for source, names in (("torchvision", torchvision.models.list_models()), ("timm", timm.list_models())):
        smallest: dict[Family, tuple[int, list[int], str]] = {}
        for name in tqdm(names, desc=f"families of {source}"):
            family, size = _family(source, name)
            found = size, [int(number) for number in re.findall(r"\d+", name)], name
            if family is not None:
                smallest[family] = min(smallest.get(family, found), found)
        chosen += [(source, name) for *_, name in sorted(smallest.values(), key=lambda found: found[2])]
    return chosen


Family = tuple[str, frozenset[str]]  # the name without numbers, and the kinds of modules


def _family(source: str, name: str) -> tuple[Family | None, int]:
    with warnings.catch_warnings(), torch.device("meta"):
        warnings.simplefilter("ignore")
        try:
            model = _maker(source, name)()
        except (RuntimeError, NotImplementedError):  # numbers are computed in its constructor
            return (re.sub(r"\d+", "", name), frozenset()), 0
    kinds = {type(module) for module in model.modules()}
    if not any(map(_has_relu, kinds)):
        return None, 0
    families = re.sub(r"\d+", "", name), frozenset(kind.__name__ for kind in kinds)
    return families, sum(parameter.numel() for parameter in model.parameters())


def _maker(source: str, name: str) -> Callable[[], nn.Module]:
    if source == "timm":
        return partial(timm.create_model, name)
    without = {"weights_backbone": None} if "_rcnn" in name or "rcnn" in name or "_fpn" in name else {}
    backbones = ("fcn", "deeplabv3", "lraspp", "fcos", "retinanet", "ssd")
    without = {"weights_backbone": None} if name.startswith(backbones) else without
    slow = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return partial(torchvision.models.get_model, name, weights=None, **without, **slow)


@cache
def _has_relu(kind: type[nn.Module]) -> bool:
    """Whether modules of this kind are ReLUs, or call one."""
    if issubclass(kind, nn.ReLU | nn.Hardtanh):
        return True
    try:
        return bool(re.search(r"\b(F|functional|torch)\.relu", inspect.getsource(kind)))
    except (OSError, TypeError):
        return False
