"""Data sets: counts, splits, checksums and what is said when files are missing or broken."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torchvision.datasets import CIFAR10

from pascal.data import describe, load_dataset, sample
from pascal.errors import PascalError


@pytest.fixture(scope="module")
def digits():
    return load_dataset("digits")


@pytest.fixture(scope="module")
def real_root() -> Path:
    root = Path(os.environ.get("PASCAL_DATA", "data"))
    if not (root / "cifar-10-batches-py").exists():
        pytest.skip(f"no CIFAR-10 under {root}")
    return root


def test_digits_splits_are_disjoint_and_complete(digits):
    counts = [len(digits.train), len(digits.validation), len(digits.test)]
    assert counts == [1257, 180, 360]
    assert digits.train.pixels.shape == (1257, 3, 32, 32)
    assert digits.train.pixels.dtype == torch.uint8
    pixels = torch.cat([split.pixels for split in (digits.train, digits.validation, digits.test)])
    assert len(np.unique(pixels.flatten(1).numpy(), axis=0)) == 1797  # no image of scikit-learn's is there twice


def test_digits_upsampling_keeps_the_greys(digits):
    # Each 4×4 block of the bilinear enlargement averages back to its own pixel, up to its neighbours' share.
    from sklearn.datasets import load_digits

    original = load_digits().images[-360:] / 16
    pooled = digits.test.pixels[:, 0].double().div(255).reshape(360, 8, 4, 8, 4).mean((2, 4)).numpy()
    assert np.corrcoef(original.ravel(), pooled.ravel())[0, 1] > 0.98
    assert digits.test.pixels.max() == 255


def test_test_images_do_not_depend_on_the_seed(digits):
    other = load_dataset("digits", seed=1)
    assert torch.equal(digits.test.pixels, other.test.pixels)
    assert not torch.equal(digits.validation_indices, other.validation_indices)
    again = load_dataset("digits", seed=0)
    assert torch.equal(digits.validation_indices, again.validation_indices)


def test_mean_and_std_are_those_of_the_training_images(digits):
    pixels = torch.cat([digits.train.pixels, digits.validation.pixels]).double() / 255
    assert pixels.mean((0, 2, 3)).tolist() == pytest.approx(digits.mean, abs=5e-5)
    assert pixels.std((0, 2, 3)).tolist() == pytest.approx(digits.std, abs=5e-5)


def test_description_is_json_and_repeats_itself(digits):
    text = json.dumps(describe(digits), sort_keys=True)
    assert text == json.dumps(describe(load_dataset("digits")), sort_keys=True)
    described = json.loads(text)
    assert described["splits"]["train"]["images"] == sum(described["splits"]["train"]["per_class"]) == 1257
    assert len(described["validation_indices"]) == 180
    assert described["checksums"]


def test_own_mean_and_std(digits):
    dataset = load_dataset("digits", mean=[0.5, 0.5, 0.5], std=[0.25, 0.25, 0.25])
    assert (dataset.mean, dataset.std) == ((0.5,) * 3, (0.25,) * 3)


def test_sample_is_random_by_seed_and_without_repeats(digits):
    chosen = sample(digits.train, 100, seed=5)
    assert len(chosen) == 100
    assert torch.equal(chosen.pixels, sample(digits.train, 100, seed=5).pixels)
    assert not torch.equal(chosen.pixels, sample(digits.train, 100, seed=6).pixels)
    with pytest.raises(PascalError, match="images: got 1258, expected 1 to 1257"):
        sample(digits.train, 1258)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "mnist"}, "dataset: got 'mnist', expected one of"),
        ({"name": "digits", "validation": 1437}, "validation: got 1437"),
        ({"name": "digits", "validation": -1}, "validation: got -1"),
        ({"name": "digits", "seed": -1}, "seed"),
        ({"name": "digits", "std": [0.2, 0.0, 0.2]}, "std: got"),
        ({"name": "digits", "mean": [0.2]}, "mean: got"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(PascalError, match=message):
        load_dataset(**arguments)


def test_missing_files_say_what_to_put_where(tmp_path):
    with pytest.raises(PascalError, match=r"cifar-10-batches-py: .*data_batch_1.* absent .*PASCAL_DATA"):
        load_dataset("cifar10", tmp_path, download=False)
    with pytest.raises(PascalError, match=r"imagenet.train.*one folder of images per class"):
        load_dataset("imagenet", tmp_path)


def test_without_a_root_the_environment_says_where(tmp_path, monkeypatch):
    monkeypatch.setenv("PASCAL_DATA", str(tmp_path))
    with pytest.raises(PascalError, match=rf"into {tmp_path}/cifar.*, or name the folder that holds cifar-10"):
        load_dataset("cifar10", download=False)
    with pytest.raises(PascalError, match=rf"{tmp_path}/other/imagenet/train"):
        load_dataset("imagenet", tmp_path / "other")
    monkeypatch.delenv("PASCAL_DATA")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PascalError, match=r"^data/imagenet/train"):
        load_dataset("imagenet")


def test_failed_download_says_what_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setattr(CIFAR10, "url", (tmp_path / "nowhere.tar.gz").as_uri())
    with pytest.raises(PascalError, match=r"the download failed .*PASCAL_DATA"):
        load_dataset("cifar10", tmp_path)


def test_a_file_with_the_wrong_checksum_is_never_read(tmp_path):
    folder = tmp_path / CIFAR10.base_folder
    folder.mkdir()
    for name, _ in [*CIFAR10.train_list, *CIFAR10.test_list, (CIFAR10.meta["filename"], "")]:
        (folder / name).write_bytes(b"cos\nsystem\n(S'false'\ntR.")  # a pickle that would run a command
    with pytest.raises(PascalError, match=r"data_batch_1: MD5 is [0-9a-f]{32}, expected c99cafc1"):
        load_dataset("cifar10", tmp_path)


@pytest.mark.real
@pytest.mark.parametrize(("name", "classes"), [("cifar10", 10), ("cifar100", 100)])
def test_cifar(real_root, name, classes):
    dataset = load_dataset(name, real_root, download=False)
    assert [len(dataset.train), len(dataset.validation), len(dataset.test)] == [45_000, 5_000, 10_000]
    assert len(dataset.classes) == classes
    assert torch.bincount(dataset.test.labels).tolist() == [10_000 // classes] * classes
    pixels = torch.cat([dataset.train.pixels, dataset.validation.pixels]).double() / 255
    assert pixels.mean((0, 2, 3)).tolist() == pytest.approx(dataset.mean, abs=5e-5)
    assert pixels.std((0, 2, 3)).tolist() == pytest.approx(dataset.std, abs=5e-5)
    assert describe(dataset)["splits"]["validation"]["images"] == 5_000
