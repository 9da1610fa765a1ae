"""Counts and integers of a QCFS ResNet-20 that other people trained, on the real CIFAR-10 test set."""

import random

import pandas as pd
import pytest

import pascal
from benchmarks.checkpoints import QCFS_RESNET20, load_qcfs_resnet20
from benchmarks.studies.certificate import OWN_FUNCTIONS, PAIRS, accuracy, cifar10_test, compared, engines
from pascal.graph.integer import IntegerSNN
from tests.checkpoints import checkpoint_path

pytestmark = pytest.mark.real

EXACT = [
    ("integer steps", "integer counts"),
    ("ANN, float64", "counts, float64"),
    ("steps, float64", "counts, float64"),
]


def assert_certified(images: int) -> None:
    pixels, _ = cifar10_test(images)
    networks = engines(load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20)), pixels)
    rows = [key | measure() for key, measure in (compared(networks, *pair, pixels) for pair in PAIRS)]
    table = pd.DataFrame(rows).set_index(["first", "second"])
    for pair in EXACT:
        row = table.loc[pair]
        assert (row["images"], row["neurons"]) == (images, images * 188_416)
        assert (row["count_mismatches"], row["prediction_mismatches"]) == (0, 0), pair
    assert table.loc[EXACT[0], "max_logit_error"] == 0
    # float32 is counted, not hidden: rounding flips counts next to a boundary, and those flip others.
    assert 0 < table.loc[("ANN, float32", "counts, float32"), "count_mismatches"] < images * 188_416 / 1000


def test_some_images() -> None:
    assert_certified(40)


@pytest.mark.slow
def test_more_images() -> None:
    assert_certified(400)  # all of them: python -m benchmarks.studies.certificate


@pytest.mark.slow
def test_int8_costs_less_than_half_a_point() -> None:
    pixels, labels = cifar10_test(10_000)
    networks = engines(load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20)), pixels)
    found = {name: accuracy(networks, name, pixels, labels)[1]()["accuracy"] for name in OWN_FUNCTIONS}
    for name in ("integer counts", "integer counts, pixels of 8 bits"):
        assert found["ANN, float32"] - found[name] < 0.5


def test_integers_with_random_levels() -> None:
    ann = load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20))
    rng = random.Random(3)
    pascal.set_levels(ann, [rng.choice((1, 2, 3, 4, 6, 8, 16, 32)) for _ in range(19)])
    snn = pascal.convert(ann, engine="integer")
    assert isinstance(snn, IntegerSNN)
    verification = pascal.verify(snn.stepwise(), snn, cifar10_test(60)[0].split(30))
    assert verification.passed
    assert verification.max_logit_error == 0
