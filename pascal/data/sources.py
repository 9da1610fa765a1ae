"""Readers of the data sets' files: checked before they are used, downloaded by torchvision where absent."""

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from pascal.data.records import Files, Images, Source
from pascal.errors import PascalError

if TYPE_CHECKING:  # libraries that take seconds are imported by the reader that needs them
    from torchvision.datasets import CIFAR10, ImageFolder

_DIGITS_HELD_OUT = 360  # the last fifth: digits come writer by writer, so these hands are unseen in training


def read_digits(root: Path, download: bool) -> Source:
    """scikit-learn's 1,797 digits, 8×8 with 17 greys, as 32×32 images of three equal channels."""
    table = torch.from_numpy(np.loadtxt(_digits_file(), delimiter=","))
    greys, labels = table[:, :-1].reshape(-1, 1, 8, 8) * (255 / 16), table[:, -1].long()
    # Bilinear weights are multiples of 1/8, hence the sums are exact and the bytes the same on every machine.
    pixels = F.interpolate(greys, scale_factor=4, mode="bilinear").round().to(torch.uint8).expand(-1, 3, -1, -1)
    images = Images(pixels.contiguous(), labels)
    cut = len(images) - _DIGITS_HELD_OUT
    return Source(
        images.take(torch.arange(cut)),
        images.take(torch.arange(cut, len(images))),
        tuple(str(digit) for digit in range(10)),
        {"pixels.sha256": hashlib.sha256(images.pixels.numpy().tobytes()).hexdigest()},
    )


def _digits_file() -> Path:
    """The file behind `sklearn.datasets.load_digits`, whose import takes longer than all that is done here."""
    (package,) = find_spec("sklearn").submodule_search_locations  # type: ignore[union-attr,misc]
    return Path(package, "datasets", "data", "digits.csv.gz")


def read_cifar10(root: Path, download: bool) -> Source:
    """CIFAR-10 as torchvision reads it."""
    from torchvision.datasets import CIFAR10

    return _read_cifar(CIFAR10, root, download)


def read_cifar100(root: Path, download: bool) -> Source:
    """CIFAR-100 (fine labels) as torchvision reads it."""
    from torchvision.datasets import CIFAR100

    return _read_cifar(CIFAR100, root, download)


def _read_cifar(kind: "type[CIFAR10]", root: Path, download: bool) -> Source:
    folder = root / kind.base_folder
    known = dict([*kind.train_list, *kind.test_list, (kind.meta["filename"], kind.meta["md5"])])
    absent = [name for name in known if not (folder / name).exists()]
    if absent:
        _download(kind, root, absent, download)
    for name, md5 in known.items():
        _check_md5(folder / name, md5)
    splits = [kind(str(root), train=train) for train in (True, False)]
    train, test = (Images(_channels_first(split.data), torch.tensor(split.targets)) for split in splits)
    return Source(train, test, tuple(splits[0].classes), {f"{kind.base_folder}/{name}": known[name] for name in known})


def _channels_first(pixels: object) -> Tensor:
    return torch.as_tensor(pixels).permute(0, 3, 1, 2).contiguous()


def _download(kind: "type[CIFAR10]", root: Path, absent: list[str], download: bool) -> None:
    folder = kind.base_folder
    remedy = f"put the files of {kind.url} into {root / folder}, or name the folder that holds {folder}/ in PASCAL_DATA"
    if not download:
        raise PascalError(f"{kind.base_folder}: {absent} absent and downloads are off; {remedy}")
    try:
        kind(str(root), download=True)
    except (OSError, RuntimeError) as error:
        raise PascalError(f"{kind.base_folder}: {absent} absent and the download failed ({error}); {remedy}") from error


def _check_md5(file: Path, expected: str) -> None:
    with open(file, "rb") as content:
        found = hashlib.file_digest(content, "md5").hexdigest()
    if found != expected:
        raise PascalError(f"{file}: MD5 is {found}, expected {expected}; delete the file, it will be downloaded again")


def read_imagenet(root: Path, download: bool) -> Source:
    """ImageNet as a tree of image files: imagenet/{train,val}/<class>/<image>."""
    from torchvision.datasets import ImageFolder

    folders = {}
    for part in ("train", "val"):
        try:
            folders[part] = ImageFolder(str(root / "imagenet" / part))
        except FileNotFoundError as error:
            raise PascalError(
                f"{root / 'imagenet' / part}: {error}; put one folder of images per class there (ImageNet cannot be "
                "downloaded without an account), or name the folder that holds imagenet/ in PASCAL_DATA"
            ) from error
    if folders["train"].classes != folders["val"].classes:
        differ = sorted(set(folders["train"].classes) ^ set(folders["val"].classes))
        raise PascalError(f"{root / 'imagenet'}: train and val disagree on the classes {differ[:5]}")
    train, test = (_files(folders[part]) for part in ("train", "val"))
    listing = {f"{part}.listing.sha256": _listing_digest(folder) for part, folder in folders.items()}
    return Source(train, test, tuple(folders["train"].classes), listing)


def _files(folder: "ImageFolder") -> Files:
    return Files(tuple(path for path, _ in folder.samples), torch.tensor(folder.targets))


def _listing_digest(folder: "ImageFolder") -> str:
    """Of names and sizes: reading 150 GB twice would cost more than it protects."""
    lines = (f"{os.path.relpath(path, folder.root)} {os.path.getsize(path)}\n" for path, _ in folder.samples)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
