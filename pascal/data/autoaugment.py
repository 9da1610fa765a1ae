"""AutoAugment's CIFAR-10 policy: torchvision's operations, one sub-policy per image, one call per group of images."""

import torch
from torch import Tensor
from torchvision.transforms.v2 import AutoAugment, AutoAugmentPolicy

_TRANSFORM = AutoAugment(AutoAugmentPolicy.CIFAR10)
_SPACE = AutoAugment._AUGMENTATION_SPACE  # operation → (its magnitudes, whether they have a sign)
POLICIES = tuple(_TRANSFORM._policies)  # 25 pairs of (operation, probability, index of the magnitude)
_OPERATIONS = sorted({(name, index or 0) for policy in POLICIES for name, _, index in policy})
_CODES = torch.tensor([[_OPERATIONS.index((name, index or 0)) for name, _, index in policy] for policy in POLICIES])
_SIGNED = torch.tensor([[_SPACE[name][1] for name, _, _ in policy] for policy in POLICIES])
_PROBABILITIES = torch.tensor([[probability for _, probability, _ in policy] for policy in POLICIES])


def auto_augment(pixels: Tensor, policy: Tensor, draws: Tensor, negative: Tensor) -> Tensor:
    """Both operations of each image's sub-policy, where `draws` in [0, 1) stay below their probabilities.

    Shape: uint8 (N, 3, H, W), int64 (N,), float (N, 2), bool (N, 2) → uint8 (N, 3, H, W).
    """
    pixels = pixels.clone()
    # An operation and its sign are one code, so that all images which need the same call share it.
    codes = (2 * _CODES[policy] + (negative & _SIGNED[policy])).masked_fill(draws >= _PROBABILITIES[policy], -1)
    for slot in codes.unbind(1):
        for code in slot.unique().tolist():
            if code >= 0:
                chosen = (slot == code).nonzero().flatten().to(pixels.device)
                pixels[chosen] = _operate(pixels[chosen], *_OPERATIONS[code // 2], sign=1 - 2 * (code % 2))
    return pixels


def _operate(pixels: Tensor, name: str, index: int, *, sign: int) -> Tensor:
    magnitudes = _SPACE[name][0](10, *pixels.shape[2:])
    magnitude = 0.0 if magnitudes is None else sign * float(magnitudes[index])
    return _TRANSFORM._apply_image_or_video_transform(
        pixels, name, magnitude, _TRANSFORM.interpolation, _TRANSFORM._fill
    )
