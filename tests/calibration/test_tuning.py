"""Fine-tuning of a calibrated network: before and after on held-out images, the better is kept."""

import pytest
import torch
from torch import Tensor, nn

import pascal
from pascal import PascalError


def batches(count: int, seed: int) -> list[tuple[Tensor, Tensor]]:
    images = torch.randn(count, 6, generator=torch.Generator().manual_seed(seed))
    return list(zip(images.split(32), (images[:, 0] > 0).long().split(32), strict=True))


def calibrated() -> nn.Module:
    torch.manual_seed(0)
    relu = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2)).eval()
    return pascal.calibrate(pascal.quantize(relu, levels=4), batches(256, 1)).ann


def test_what_helps_is_kept_and_what_came_is_not_changed() -> None:
    ann = calibrated()
    state = {name: value.clone() for name, value in ann.state_dict().items()}
    tuning = pascal.fine_tune(ann, batches(256, 1), batches(128, 2), epochs=20, learning_rate=0.05)
    assert tuning.kept
    assert tuning.after > tuning.before + 0.1
    assert all(torch.equal(value, state[name]) for name, value in ann.state_dict().items())
    exact = tuning.ann.double()
    assert pascal.verify(exact, pascal.convert(exact), [batches(32, 3)[0][0].double()]).passed
    assert "kept" in str(tuning)


def test_a_channel_that_hardly_fires_is_tuned_with_the_others() -> None:
    torch.manual_seed(0)
    relu = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2)).eval()
    relu[0].weight.data[3] *= 1e-7
    relu[0].bias.data[3] = 0
    ann = pascal.calibrate(pascal.quantize(relu, levels=4), batches(256, 1)).ann
    assert pascal.fine_tune(ann, batches(256, 1), batches(128, 2)).after > 0


def test_what_hurts_is_not_kept() -> None:
    ann = calibrated()
    wrong = [(images, 1 - labels) for images, labels in batches(256, 1)]
    good = pascal.fine_tune(ann, batches(256, 1), batches(128, 2), epochs=20, learning_rate=0.05).ann
    tuning = pascal.fine_tune(good, wrong, batches(128, 2), epochs=5, learning_rate=0.01)
    assert not tuning.kept
    assert all(torch.equal(a, b) for a, b in zip(tuning.ann.parameters(), good.parameters(), strict=True))


def test_labels_and_activations_are_asked_for() -> None:
    with pytest.raises(PascalError, match="no QCFS"):
        pascal.fine_tune(nn.Linear(6, 2), batches(32, 1), batches(32, 2))
    with pytest.raises(PascalError, match=r"expected \(images, labels\) pairs"):
        pascal.fine_tune(calibrated(), [torch.randn(32, 6)], batches(32, 2))
    with pytest.raises(PascalError, match="batches: got none"):
        pascal.fine_tune(calibrated(), [], batches(32, 2))
