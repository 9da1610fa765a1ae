"""Batches: a function of (seed, epoch, step), whatever the start, the processes or the workers."""

import pytest
import torch
from PIL import Image

from pascal.data import Augmentation, evaluation_batches, load_dataset, training_batches
from pascal.errors import PascalError

EVERYTHING = Augmentation(crop=4, flip=True, autoaugment=True, cutout=16)


@pytest.fixture(scope="module")
def digits():
    return load_dataset("digits")


@pytest.fixture
def files(tmp_path):
    """An ImageNet tree of two classes with ten small pictures each."""
    torch.manual_seed(0)
    for part in ("train", "val"):
        for label in ("cat", "dog"):
            folder = tmp_path / "imagenet" / part / label
            folder.mkdir(parents=True)
            for number in range(10):
                pixels = torch.randint(0, 256, (40, 50, 3), dtype=torch.uint8)
                Image.fromarray(pixels.numpy()).save(folder / f"{number}.png")
    return load_dataset("imagenet", tmp_path, validation=4)


def same(first, second) -> bool:
    first, second = list(first), list(second)
    return len(first) == len(second) and all(
        torch.equal(x, u) and torch.equal(y, v) for (x, y), (u, v) in zip(first, second, strict=True)
    )


def as_bytes(image: torch.Tensor) -> bytes:
    return image.numpy().tobytes()


def test_an_epoch_visits_images_at_most_once_and_epochs_differ(digits):
    batches = training_batches(digits, 100, Augmentation(crop=0, flip=False))
    assert len(batches) == 12
    images = torch.cat([images for images, _ in batches.epoch(0)])
    assert len(images.flatten(1).unique(dim=0)) == 1200
    assert not same(batches.epoch(0), batches.epoch(1))
    assert same(batches.epoch(1), batches.epoch(1))


def test_labels_stay_with_their_images(digits):
    by_bytes = dict(zip(map(as_bytes, digits.train.pixels), digits.train.labels.tolist(), strict=True))
    unit = load_dataset("digits", mean=[1e-30] * 3, std=[1 / 255] * 3)  # so that batches are the pixels themselves
    for images, labels in training_batches(unit, 400, Augmentation(crop=0, flip=False)).epoch(0):
        assert [by_bytes[as_bytes(image.round().to(torch.uint8))] for image in images] == labels.tolist()


@pytest.mark.parametrize("start", [1, 3, 4, 11, 12])
def test_an_epoch_can_start_at_any_step(digits, start):
    batches = training_batches(digits, 100, EVERYTHING, seed=7)
    assert same(batches.epoch(2, start), list(batches.epoch(2))[start:])


def test_processes_share_the_global_batch_image_by_image(digits):
    whole = list(training_batches(digits, 100, EVERYTHING).epoch(0))
    shares = [list(training_batches(digits, 100, EVERYTHING, rank=r, processes=2).epoch(0)) for r in range(2)]
    for (images, labels), first, second in zip(whole, *shares, strict=True):
        assert torch.equal(images[0::2], first[0])
        assert torch.equal(images[1::2], second[0])
        assert torch.equal(labels[1::2], second[1])


def test_evaluation_sees_every_image_once_in_order(digits):
    batches = evaluation_batches(digits, digits.test, batch_size=100)
    assert len(batches) == 4
    assert torch.equal(torch.cat([labels for _, labels in batches]), digits.test.labels)
    assert same(batches, batches)
    shares = [evaluation_batches(digits, digits.test, 100, rank=rank, processes=7) for rank in range(7)]
    assert sum(len(labels) for share in shares for _, labels in share) == 360


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size: got 0"),
        ({"batch_size": 2.0}, "batch_size: got 2.0"),
        ({"batch_size": 1258}, "batch_size: got 1258, expected at most the 1257"),
        ({"batch_size": 9, "processes": 2}, "expected a multiple of 2 processes"),
        ({"batch_size": 9, "seed": -3}, "seed"),
    ],
)
def test_bad_batches_are_named(digits, arguments, message):
    with pytest.raises(PascalError, match=message):
        next(training_batches(digits, **arguments).epoch(0))


def test_files_do_not_depend_on_the_number_of_workers(files):
    torch.manual_seed(1)
    alone = list(training_batches(files, 8, EVERYTHING, seed=3).epoch(1))
    torch.manual_seed(2)
    helped = list(training_batches(files, 8, EVERYTHING, seed=3, workers=2).epoch(1))
    assert same(alone, helped)
    assert same(alone[1:], training_batches(files, 8, EVERYTHING, seed=3, workers=1).epoch(1, start=1))
    assert alone[0][0].shape == (8, 3, 224, 224)
    assert not same(alone, training_batches(files, 8, EVERYTHING, seed=3).epoch(2))


def test_reading_files_leaves_torchs_generator_alone(files):
    before = torch.random.get_rng_state()
    next(training_batches(files, 8, EVERYTHING).epoch(0))
    evaluated = list(evaluation_batches(files, files.test, 6))
    assert torch.equal(before, torch.random.get_rng_state())
    assert [len(labels) for _, labels in evaluated] == [6, 6, 6, 2]


@pytest.mark.parametrize("workers", [0, 1])
def test_an_unreadable_image_is_named(files, workers):
    broken = files.train.paths[0]
    with open(broken, "wb") as file:
        file.write(b"no image")
    with pytest.raises(PascalError, match=rf"{broken}: unreadable image"):
        list(training_batches(files, 16, workers=workers).epoch(0))


def test_an_image_too_large_to_be_true_is_named(files, monkeypatch):
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 1)
    with pytest.raises(PascalError, match=r"unreadable image \(Image size"):
        list(evaluation_batches(files, files.test, 6))
