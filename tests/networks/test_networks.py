"""The paper's networks: layers, operations, widths, heads and stems."""

import pytest
import torch

import pascal
from pascal import PascalError
from pascal.graph import layer_shapes


@pytest.mark.parametrize(
    ("name", "size", "classes", "macs", "layers"),
    [  # totals: the paper's appendix tables; ResNets: from the shapes, where the paper's tables are wrong
        ("vgg16", 32, 10, 332_111_872, 15),
        ("vgg16", 32, 100, 332_480_512, 15),
        ("vgg16", 224, 1000, 15_470_264_320, 15),
        ("resnet18", 32, 10, 555_422_720, 17),
        ("resnet18", 32, 100, 555_468_800, 17),
        ("resnet34", 224, 1000, 3_663_761_408, 33),
        ("resnet20", 32, 10, 40_813_184, 19),
    ],
)
def test_operations_and_layers(name: str, size: int, classes: int, macs: int, layers: int) -> None:
    network = pascal.build_network(name, classes=classes, image_size=size)
    workloads = layer_shapes(network, (3, size, size))
    assert sum(layer.macs for layer in workloads) == macs
    assert len(pascal.get_levels(network)) == layers
    assert sum(layer.is_main_path for layer in workloads) == layers


def test_vgg16_neurons() -> None:
    workloads = layer_shapes(pascal.build_network("vgg16"), (3, 32, 32))
    assert sum(layer.neurons for layer in workloads) == 284_672  # HARDWARE: IF neurons per image


@pytest.mark.parametrize("pool", ["max", "avg"])
@pytest.mark.parametrize(("name", "size"), [("vgg16", 64), ("resnet18", 32), ("resnet20", 32), ("resnet34", 160)])
def test_shapes(name: str, size: int, pool: str) -> None:
    network = pascal.build_network(name, classes=7, image_size=size, width=0.125, pool=pool)
    assert network(torch.randn(2, 3, size, size)).shape == (2, 7)


def test_module_order_is_forward_order() -> None:
    """Lists of levels are given in forward order; `build_network` relies on the order of registration."""
    for name in ("vgg16", "resnet18", "resnet20", "resnet34"):
        network = pascal.build_network(name, width=0.125)
        registered = [path for path, module in network.named_modules() if isinstance(module, pascal.QCFS)]
        assert list(pascal.get_levels(network)) == registered


@pytest.mark.parametrize("name", ["timm:resnet26", "torchvision:resnet18"])
def test_library_networks(name: str) -> None:
    network = pascal.build_network(name, classes=7, levels=3)
    assert set(pascal.get_levels(network).values()) == {3}
    assert network.training
    assert network(torch.randn(2, 3, 32, 32)).shape == (2, 7)


def test_levels_uniform_listed_and_named() -> None:
    assert set(pascal.get_levels(pascal.build_network("vgg16", width=0.125)).values()) == {4}
    published = [2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 4, 4, 2, 4, 4]  # the paper's adaptive VGG-16 on CIFAR-10
    network = pascal.build_network("vgg16", width=0.125, levels=published)
    assert list(pascal.get_levels(network).values()) == published
    named = pascal.build_network("resnet18", width=0.125, levels={"layer3.1.act2": 2})
    assert pascal.get_levels(named)["layer3.1.act2"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "vgg19"}, "network: got 'vgg19', expected one of"),
        ({"name": "timm:resnet999"}, "network: got 'timm:resnet999', expected .* that timm knows, such as resnet"),
        ({"name": "torchvision:nothing"}, "expected .* that torchvision knows"),
        ({"name": "timm:resnet26", "width": 0.5}, "width and pool belong to the paper's networks"),
        ({"name": "vgg16", "pool": "median"}, "pool: got 'median'"),
        ({"name": "vgg16", "image_size": 33}, "image_size: got 33, expected a multiple of 32"),
        ({"name": "vgg16", "width": 0}, "width: got 0"),
        ({"name": "vgg16", "width": -1.0}, "width: got -1.0"),
        ({"name": "resnet18", "classes": 0}, "classes: got 0"),
        ({"name": "resnet18", "levels": [4] * 15}, "got a list of 15, expected 17"),
        ({"name": "resnet18", "levels": {"layer9": 4}}, r"unknown layers \['layer9'\]"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(PascalError, match=message):
        pascal.build_network(**arguments)  # type: ignore[arg-type]
