"""Any model: networks of other libraries convert exactly in all engines, or are refused for a reason that holds."""

import re

import pytest

from benchmarks.studies.models import EXACT, REFUSED, WRONG, Row, examine, table
from tests.documents import ROOT

FIRST = [  # the models people ask for first; the others run with the slow tests
    *(("pascal", name) for name in ("vgg16", "resnet20")),
    *(("torchvision", name) for name in ("resnet18", "alexnet", "squeezenet1_1", "mobilenet_v2", "shufflenet_v2_x1_0")),
    ("timm", "repvgg_a0"),
]
OTHERS = [
    *(("pascal", name) for name in ("resnet18", "resnet34")),
    *(("torchvision", name) for name in ("resnet50", "densenet121", "googlenet", "regnet_x_400mf", "fcn_resnet50")),
    *(
        ("timm", name)
        for name in ("efficientnet_lite0", "tf_mobilenetv3_small_minimal_100", "hrnet_w18_small", "dla34")
    ),
]
OUTSIDE = [
    ("torchvision", "efficientnet_b0", "(SiLU): replace it by a ReLU"),
    ("torchvision", "mobilenet_v3_small", "(Hardswish): replace it by a ReLU"),
    ("timm", "legacy_xception", "(MaxPool2d): max pooling is exact on spikes only"),
    ("timm", "ese_vovnet19b_dw", "(Hardsigmoid): replace it by a ReLU"),
]


def _exact(source: str, name: str) -> None:
    row = examine(source, name)
    assert (row.outcome, row.reason) == (EXACT, "")
    assert not any(outcome.startswith(WRONG) for outcome in row.engines.values())
    assert row.silent < 0.9, "a dead network proves nothing"


@pytest.mark.parametrize(("source", "name"), FIRST)
def test_models_are_exact(source: str, name: str) -> None:
    _exact(source, name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Mapping deprecated model name")
@pytest.mark.parametrize(("source", "name"), OTHERS)
def test_other_models_are_exact(source: str, name: str) -> None:
    _exact(source, name)


@pytest.mark.parametrize(("source", "name", "reason"), OUTSIDE)
def test_what_the_theorems_do_not_cover_is_refused(source: str, name: str, reason: str) -> None:
    row = examine(source, name)
    assert row.outcome == REFUSED
    assert reason in row.reason


def test_the_page_tells_what_became_of_every_model() -> None:
    rows = [Row("a", "one", EXACT, neurons=7), Row("a", "two", REFUSED, "it is not linear"), Row("b", "x", WRONG)]
    page = table(rows, 5)
    assert "3 of the 5 families" in page
    assert "**1 exact**, **1 wrong**, **0 crashed**" in page
    assert all(row.model in page for row in rows)


def test_nothing_on_the_page_is_wrong() -> None:
    page = (ROOT / "docs" / "models.md").read_text()
    assert re.search(r"\*\*0 wrong\*\*, \*\*0 crashed\*\*", page)
