"""Any model: every network of the documentation's table converts, with 0 mismatches in float64."""

import pytest

from benchmarks.studies.models import EXACT, REFUSED, examine

NAMED = [  # the models people ask for first; the others run with the slow tests
    *(("pascal", name) for name in ("vgg16", "resnet18", "resnet20", "resnet34")),
    *(("torchvision", name) for name in ("resnet18", "resnet50", "alexnet", "densenet121", "googlenet")),
    *(("torchvision", name) for name in ("squeezenet1_1", "mobilenet_v2", "shufflenet_v2_x1_0", "regnet_x_400mf")),
    *(("timm", name) for name in ("resnet26", "repvgg_a0")),
]
OTHERS = [(source, name) for source, models in EXACT.items() for name in models if (source, name) not in NAMED]


def _exact(source: str, name: str) -> None:
    row = examine(source, name, EXACT[source][name])
    assert row.refusal == ""
    assert row.mismatches == 0
    assert row.silent < 0.9, "a dead network proves nothing"


@pytest.mark.parametrize(("source", "name"), NAMED)
def test_named_models_are_exact(source: str, name: str) -> None:
    _exact(source, name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Mapping deprecated model name")
@pytest.mark.parametrize(("source", "name"), OTHERS)
def test_other_models_are_exact(source: str, name: str) -> None:
    _exact(source, name)


@pytest.mark.parametrize(("source", "name"), [(s, name) for s, models in REFUSED.items() for name in models])
def test_what_the_theorems_do_not_cover_is_refused(source: str, name: str) -> None:
    row = examine(source, name, REFUSED[source][name])
    assert "cannot be converted exactly" in row.refusal


def test_counts_of_qcfs_layers() -> None:
    # torchvision's basic block calls one ReLU twice: 17 calls, 9 modules.
    layers = {name: examine("torchvision", name, 64).layers for name in ("resnet18",)}
    assert layers == {"resnet18": 17}
