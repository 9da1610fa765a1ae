"""Whatever runs a user's network leaves it exactly as it was; batches are read in one way everywhere."""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import pascal
from pascal import PascalError
from pascal.adapt import level_histograms
from pascal.graph import layer_shapes
from pascal.graph.observe import observe
from pascal.inference import image_batches, labelled_batches
from pascal.training import evaluate


class Counting(nn.Module):
    """Counts its calls in a buffer, in evaluation mode too, and draws random numbers; may break."""

    calls: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.breaks = False

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.calls = self.calls.clone()
        torch.rand(3)
        if self.breaks:
            raise RuntimeError("broken on purpose")
        return x


class Network(nn.Module):
    """Batch norm, dropout, a frozen weight, a module in another mode than the rest; the tail is not traced."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn, self.act = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), pascal.QCFS(4, 1.0)
        self.drop, self.frozen_bn = nn.Dropout(0.5), nn.BatchNorm2d(4).eval()
        self.tail, self.fc = Counting(), nn.Linear(4, 5)
        self.conv.weight.requires_grad_(False)
        self.fc.register_forward_hook(lambda module, inputs, output: output)

    def forward(self, x: Tensor) -> Tensor:
        x = self.frozen_bn(self.drop(self.act(self.bn(self.conv(x)))))
        return self.fc(self.tail(x.mean((2, 3))))


def network() -> nn.Module:
    torch.manual_seed(0)
    model = Network().train()
    model.frozen_bn.eval()
    model(images()).sum().backward()  # gradients that must stay
    return model


def images() -> Tensor:
    return torch.randn(6, 3, 8, 8, generator=torch.Generator().manual_seed(1))


def state(model: nn.Module) -> dict[str, Any]:
    modules = dict(model.named_modules())
    return {
        "modes": {path: module.training for path, module in modules.items()},
        "hooks": {
            path: len(module._forward_hooks) + len(module._forward_pre_hooks) for path, module in modules.items()
        },
        "state": copy.deepcopy(model.state_dict()),
        "tensors": {name: id(t) for name, t in (*model.named_parameters(), *model.named_buffers())},
        "needs": {name: p.requires_grad for name, p in model.named_parameters()},
        "gradients": {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None},
        "torch": torch.get_rng_state(),
        "numpy": np.random.get_state()[1],  # noqa: NPY002
        "python": random.getstate(),
        "grad": torch.is_grad_enabled(),
    }


def assert_same(before: dict[str, Any], after: dict[str, Any]) -> None:
    torch.testing.assert_close(
        {k: v for k, v in after.items() if k != "python"}["state"], before["state"], rtol=0, atol=0
    )
    for key in ("modes", "hooks", "tensors", "needs", "python", "grad"):
        assert after[key] == before[key], key
    for key in ("torch", "gradients"):
        torch.testing.assert_close(after[key], before[key], rtol=0, atol=0)
    assert (after["numpy"] == before["numpy"]).all()


def labelled() -> list[tuple[Tensor, Tensor]]:
    return [(images(), torch.arange(6) % 5)]


RUNNERS: dict[str, Callable[[nn.Module], Any]] = {
    "verify": lambda model: pascal.verify(model, model, [images()]),
    "observe": lambda model: observe(model, images()),
    "histograms": lambda model: level_histograms(model, labelled()),
    "evaluate": lambda model: evaluate(model, labelled()),
}


@pytest.mark.parametrize("name", RUNNERS)
def test_the_network_is_left_as_it_was(name: str) -> None:
    model = network()
    before = state(model)
    RUNNERS[name](model)
    assert_same(before, state(model))


@pytest.mark.parametrize("name", RUNNERS)
def test_also_after_an_error(name: str) -> None:
    model = network()
    model.tail.breaks = True  # type: ignore[union-attr]
    before = state(model)
    with pytest.raises(PascalError, match="Network cannot run on them: broken on purpose"):
        RUNNERS[name](model)
    assert_same(before, state(model))


@pytest.mark.parametrize("name", RUNNERS)
def test_also_when_the_batches_break(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[Any]:
        yield labelled()[0]
        raise KeyError("the user's own")

    if name == "observe":
        pytest.skip("takes one batch")
    model = network()
    before = state(model)
    runners = {
        "verify": lambda: pascal.verify(model, model, broken()),
        "histograms": lambda: level_histograms(model, broken()),
        "evaluate": lambda: evaluate(model, broken()),
    }
    with pytest.raises(KeyError, match="the user's own"):
        runners[name]()
    assert_same(before, state(model))


@pytest.mark.parametrize("function", ["measure", "calibrate", "layer_shapes", "get_levels", "quantize", "convert"])
def test_what_traces_leaves_it_too(function: str) -> None:
    model = network()
    model.tail = nn.Identity()
    if function == "convert":
        model.eval()
    before = state(model)
    calls: dict[str, Callable[[], Any]] = {
        "measure": lambda: pascal.measure(model, labelled()),
        "calibrate": lambda: pascal.calibrate(model, labelled(), method="mse"),
        "layer_shapes": lambda: layer_shapes(model, (3, 8, 8)),
        "get_levels": lambda: pascal.get_levels(model),
        "quantize": lambda: pascal.quantize(nn.Sequential(model, nn.ReLU())),
        "convert": lambda: pascal.convert(model, engine="counts")(images()),
    }
    model.fc._forward_hooks.clear()  # type: ignore[union-attr]
    before["hooks"]["fc"] = 0
    calls[function]()
    assert_same(before, state(model))


def test_they_run_in_evaluation_mode() -> None:
    model = network()
    found = evaluate(model, labelled()).predictions
    expected = copy.deepcopy(model).eval()(images()).argmax(1)
    assert torch.equal(found, expected)
    histogram = level_histograms(model, labelled())["act"]
    assert (histogram == level_histograms(model.eval(), labelled())["act"]).all()


def test_a_tensor_kept_by_the_network_can_still_be_trained_with() -> None:
    class Keeping(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act, self.fc = pascal.QCFS(4, 1.0), nn.Linear(4, 2)
            self.kept: Tensor | None = None

        def forward(self, x: Tensor) -> Tensor:
            if self.kept is None:
                self.kept = torch.ones(x.shape[1])
            return self.fc(self.act(x * self.kept))

    model = Keeping()
    evaluate(model, [(torch.rand(3, 4), torch.zeros(3, dtype=torch.int64))])
    level_histograms(model, torch.rand(3, 4))
    model(torch.rand(3, 4, requires_grad=True)).sum().backward()


def batches(kind: str) -> Any:
    pixels, labels = images(), torch.arange(6)
    return {
        "one tensor": pixels,
        "tensors": [pixels[:2], pixels[2:]],
        "pairs": [(pixels[:2], labels[:2]), (pixels[2:], labels[2:])],
        "lists": [[pixels, labels]],
        "a generator": (part for part in pixels.split(4)),
        "a loader": DataLoader(TensorDataset(pixels, labels), batch_size=4),
        "a loader of images": DataLoader(pixels, batch_size=4),  # type: ignore[arg-type]
        "no labels": [(pixels, None)],
    }[kind]


KINDS = ("one tensor", "tensors", "pairs", "lists", "a generator", "a loader", "a loader of images", "no labels")


@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_any_kind(kind: str) -> None:
    assert torch.equal(torch.cat(list(image_batches(batches(kind)))), images())
    model = network()
    assert pascal.verify(model, model, batches(kind)).images == 6
    assert level_histograms(model, batches(kind))["act"].sum() == 6 * 4 * 36


@pytest.mark.parametrize("kind", ["pairs", "lists", "a loader"])
def test_batches_with_labels(kind: str) -> None:
    assert torch.equal(torch.cat([labels for _, labels in labelled_batches(batches(kind))]), torch.arange(6))


WRONG = (None, 3, "images", b"images", {"images": images()}, images().numpy(), [images().numpy()], [{"x": images()}],
         ["images"], [None], [()], [3], [(None, 1)], [images()[:0]], torch.tensor(1.0), [torch.ones(3)])  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: str(type(wrong)) if isinstance(wrong, Tensor) else None)
def test_other_batches_are_refused(wrong: Any) -> None:
    with pytest.raises(PascalError, match=r"expected (an iterable of image tensors|a batch of at least one image)"):
        list(image_batches(wrong))


@pytest.mark.parametrize("labels", [None, "labels", torch.zeros(5, dtype=torch.int64), torch.zeros(6), [0] * 6])
def test_labels_of_another_kind_are_refused(labels: Any) -> None:
    with pytest.raises(PascalError, match="expected"):
        evaluate(network(), [(images(), labels)])
