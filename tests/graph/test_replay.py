"""A rerun from an exchanged layer on is the whole network with that layer exchanged."""

import copy

import pytest
import torch
from torch import Tensor, nn

from pascal import QCFS
from pascal.errors import PascalError
from pascal.graph import qcfs_layers
from pascal.graph.replay import Replay
from tests.graph.small import Branches, lively


class Shared(nn.Module):
    """One QCFS and one convolution that are called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.body, self.act, self.last = nn.Conv2d(3, 6, 3), nn.Conv2d(6, 6, 3), QCFS(), QCFS()
        self.fc = nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.act(self.body(self.act(self.stem(x))))
        return self.fc(self.last(self.body(x)).mean((2, 3)))


@pytest.mark.parametrize("model", [Branches, Shared])
def test_rerun_is_the_network_with_the_layer_exchanged(model: type[nn.Module]) -> None:
    torch.manual_seed(0)
    images = torch.randn(5, 3, 12, 12, dtype=torch.float64)
    ann = lively(model(), images, [8] * len(qcfs_layers(model())))
    replay, layers = Replay(ann), qcfs_layers(ann)
    prefix = replay.start(images, layers)
    assert torch.allclose(prefix.logits, ann(images), atol=1e-10)
    moved = 0
    for path in layers:
        changed = copy.deepcopy(ann)
        neuron = changed.get_submodule(path)
        neuron.levels, neuron.threshold = 2, neuron.threshold.detach() * 0.7  # type: ignore[union-attr]
        assert torch.allclose(replay.rerun(prefix, path, neuron), changed(images), atol=1e-10)
        moved += not torch.allclose(changed(images), prefix.logits, atol=1e-6)
    assert moved >= 2
    assert torch.allclose(replay.rerun(prefix, path, layers[path]), prefix.logits)  # nothing was overwritten


def test_only_what_stands_behind_is_computed() -> None:
    ann = nn.Sequential(nn.Linear(4, 4), QCFS(), nn.Linear(4, 4), QCFS(), nn.Linear(4, 3))
    replay, images = Replay(ann), torch.randn(2, 4)
    prefix = replay.start(images, qcfs_layers(ann))
    ran: list[str] = []
    for path, module in replay._traced.named_modules():
        module.register_forward_hook(lambda *_, path=path: ran.append(path))
    replay.rerun(prefix, "3", ann[3])
    assert ran == ["4"]
    assert prefix.bytes <= 4 * images.numel() * 4


def test_a_layer_that_nothing_reads_is_named() -> None:
    class Idle(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act, self.fc = QCFS(), nn.Linear(4, 3)

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return self.fc(x), self.act(x)

    with pytest.raises(PascalError, match="returns tuple, expected one tensor"):
        Replay(Idle()).start(torch.randn(2, 4), {"act": QCFS()})
