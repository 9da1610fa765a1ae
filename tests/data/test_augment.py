"""Each augmentation against a plain loop over the images."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchvision.transforms.v2 import AutoAugment, AutoAugmentPolicy

from pascal.data.augment import Augmentation, augment_pixels, cut_out, draw_step, normalise, random_crop, random_flip
from pascal.data.autoaugment import POLICIES, auto_augment
from pascal.data.records import Share
from pascal.errors import PascalError


def some_pixels(images: int = 6, size: int = 8, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, 256, (images, 3, size, size), dtype=np.uint8))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=6))
def test_crop_takes_the_window_of_the_padded_image(offsets):
    pixels = some_pixels(len(offsets))
    padded = np.pad(pixels.numpy(), ((0, 0), (0, 0), (2, 2), (2, 2)))
    windows = [image[:, y : y + 8, x : x + 8] for image, (y, x) in zip(padded, offsets, strict=True)]
    assert np.array_equal(random_crop(pixels, torch.tensor(offsets), 2).numpy(), np.stack(windows))


def test_flip_mirrors_only_the_chosen_images():
    pixels = some_pixels(3)
    flipped = random_flip(pixels, torch.tensor([True, False, True]))
    assert torch.equal(flipped[0], pixels[0].flip(2))
    assert torch.equal(flipped[1], pixels[1])
    assert not torch.equal(flipped[2], pixels[2])


@given(st.lists(st.tuples(st.floats(0, 0.999), st.floats(0, 0.999)), min_size=1, max_size=4), st.integers(1, 20))
def test_cutout_clears_a_square_around_its_centre(centres, side):
    images = torch.ones(len(centres), 3, 8, 8)
    draws = torch.zeros(len(centres), 10, dtype=torch.float64)
    draws[:, 3:5] = torch.tensor(centres, dtype=torch.float64)
    loop = images.clone()
    for image, (y, x) in zip(loop, centres, strict=True):
        rows, columns = (range(int(c * 8) - side // 2, int(c * 8) - side // 2 + side) for c in (y, x))
        for row in set(rows) & set(range(8)):
            for column in set(columns) & set(range(8)):
                image[:, row, column] = 0
    assert torch.equal(cut_out(images, draws, side), loop)


def test_normalise_is_what_torchvision_does():
    pixels, mean, std = some_pixels(), (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)
    by_hand = (pixels.float() / 255 - torch.tensor(mean)[:, None, None]) / torch.tensor(std)[:, None, None]
    assert torch.equal(normalise(pixels, mean, std), by_hand)


def test_every_sub_policy_is_torchvisions(monkeypatch):
    """torchvision augments one image at a time with its own draws; here those draws are ours."""
    choices = [(policy, first, second) for policy in range(25) for first in (0, 1) for second in (0, 1)]
    pixels = some_pixels(len(choices), size=32)
    negative = torch.tensor([[bool(first), bool(second)] for _, first, second in choices])
    ours = auto_augment(pixels, torch.tensor([policy for policy, _, _ in choices]), torch.zeros(100, 2), negative)

    for image, (policy, *signs), augmented in zip(pixels, choices, ours, strict=True):
        queue = []
        for (name, probability, _), minus in zip(POLICIES[policy], signs, strict=True):
            queue.append(0.0 if probability > 0 else 1.0)  # we never apply what has probability 0
            if probability > 0 and AutoAugment._AUGMENTATION_SPACE[name][1]:
                queue.append(0.25 if minus else 0.75)
        draws = iter(queue)
        monkeypatch.setattr(torch, "randint", lambda *_, policy=policy: torch.tensor(policy))
        monkeypatch.setattr(torch, "rand", lambda *_, draws=draws: torch.tensor(next(draws)))
        assert torch.equal(augmented, AutoAugment(AutoAugmentPolicy.CIFAR10)(image)), POLICIES[policy]
        assert next(draws, None) is None


def test_operations_stay_away_where_the_draw_exceeds_the_probability():
    pixels = some_pixels(25, size=32)
    unchanged = auto_augment(pixels, torch.arange(25), torch.ones(25, 2), torch.zeros(25, 2, dtype=torch.bool))
    assert torch.equal(unchanged, pixels)


def test_augmentation_of_an_image_does_not_depend_on_its_neighbours():
    everything = Augmentation(crop=4, flip=True, autoaugment=True, cutout=16)
    pixels, draws = some_pixels(64, size=32), draw_step(Share(64), seed=3, epoch=1, step=2)
    together = augment_pixels(pixels, draws, everything)
    alone = [augment_pixels(pixels[i : i + 1], draws[i : i + 1], everything) for i in range(64)]
    assert torch.equal(together, torch.cat(alone))
    assert (together != pixels).flatten(1).any(1).sum() > 55  # it does augment


def test_draws_follow_their_key_and_are_shared_out():
    whole = draw_step(Share(6), seed=1, epoch=2, step=3)
    assert torch.equal(whole, draw_step(Share(6), seed=1, epoch=2, step=3))
    for other in ((0, 2, 3), (1, 3, 3), (1, 2, 4)):
        assert not torch.equal(whole, draw_step(Share(6), *other))
    assert torch.equal(whole[1::3], draw_step(Share(6, rank=1, processes=3), 1, 2, 3))


@pytest.mark.parametrize("wrong", [{"crop": -1}, {"cutout": 2.5}, {"crop": True}])
def test_bad_augmentation_is_named(wrong):
    with pytest.raises(PascalError, match=f"augmentation.{next(iter(wrong))}"):
        Augmentation(**wrong)
