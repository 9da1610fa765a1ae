"""The QCFS activation: its values, its straight-through gradient, its threshold, its state."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load, save
from torch import Tensor, nn

from pascal import QCFS, PascalError, qcfs_count
from pascal.neurons.qcfs import MOST_LEVELS
from tests.own_process import in_own_process


def floor_ste(x: Tensor) -> Tensor:
    """⌊x⌋ whose gradient is that of x."""
    return x + (x.floor() - x).detach()


def reference(preactivation: Tensor, threshold: Tensor, levels: int) -> Tensor:
    """QCFS as its authors train it: clamp, then the floor that passes gradients on."""
    return threshold * floor_ste((preactivation / threshold).clamp(0, 1) * levels + 0.5) / levels


@given(seed=st.integers(0, 2**32), levels=st.integers(1, 32), threshold=st.sampled_from([0.25, 1.0, 3.0, 8.0]))
def test_values_and_gradients(seed: int, levels: int, threshold: float) -> None:
    torch.manual_seed(seed)
    z = (torch.randn(64, dtype=torch.float64) * threshold).requires_grad_()
    z2 = z.detach().clone().requires_grad_()
    theta = torch.tensor(threshold, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(64, dtype=torch.float64)

    qcfs = QCFS(levels, threshold).double()
    output, expected = qcfs(z), reference(z2, theta, levels)
    (output * weights).sum().backward()
    (expected * weights).sum().backward()

    assert torch.equal(output, qcfs.count(z) * qcfs.step)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(z.grad, z2.grad)
    torch.testing.assert_close(qcfs.raw_threshold.grad, theta.grad)


def test_compiled_in_one_graph_to_the_same_gradients() -> None:
    torch.testing.assert_close(in_own_process(_gradients, True), _gradients(False), rtol=1e-6, atol=0)


def _gradients(compiled: bool) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    torch.manual_seed(0)
    z = torch.cat([3 * torch.randn(200), torch.tensor([0.0, -0.0, 2.0, 2.0000002])])
    qcfs, leaf = QCFS(4, 2.0), z.clone().requires_grad_()
    function = torch.compile(qcfs, backend="aot_eager", fullgraph=True) if compiled else qcfs
    (function(leaf) * z.cos()).sum().backward()
    return leaf.grad, qcfs.raw_threshold.grad


@pytest.mark.parametrize("threshold", [0.21, 0.5, 1.0, 8.0, 3.251767158508301])
def test_ordinary_thresholds_are_stored_as_they_are(threshold: float) -> None:
    assert QCFS(4, threshold).threshold.item() == torch.tensor(threshold).item()


@pytest.mark.parametrize("threshold", [1e-3, 0.05, 0.2])
def test_small_thresholds_round_trip(threshold: float) -> None:
    assert QCFS(4, threshold).threshold.item() == pytest.approx(threshold, rel=1e-5)


@given(st.floats(-1e30, 1e30))
def test_threshold_is_positive_whatever_the_optimiser_does(raw: float) -> None:
    qcfs = QCFS(4)
    with torch.no_grad():
        qcfs.raw_threshold.fill_(raw)
    assert qcfs.threshold.item() > 0
    assert torch.isfinite(qcfs(torch.tensor([-1.0, 0.0, 1.0]))).all()


@pytest.mark.parametrize("threshold", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_thresholds(threshold: float) -> None:
    with pytest.raises(PascalError, match="threshold: got"):
        QCFS(4, threshold)


@pytest.mark.parametrize("levels", [0, -1, 2.5, True, MOST_LEVELS + 1, 10**30])
def test_bad_levels(levels: object) -> None:
    with pytest.raises(PascalError, match="expected a whole number >= 1"):
        QCFS(levels)  # type: ignore[arg-type]
    qcfs = QCFS(4)
    with pytest.raises(PascalError, match="expected a whole number >= 1"):
        qcfs.levels = levels  # type: ignore[assignment]
    assert qcfs.levels == 4


def test_the_most_levels_are_told_apart_and_saved() -> None:
    z = torch.tensor([MOST_LEVELS - 1.0, MOST_LEVELS - 0.5, MOST_LEVELS])
    assert qcfs_count(z, 1.0, MOST_LEVELS).tolist() == [MOST_LEVELS - 1, MOST_LEVELS, MOST_LEVELS]
    assert QCFS(MOST_LEVELS).get_extra_state() == MOST_LEVELS


def test_state_round_trips_with_its_levels() -> None:
    source = nn.Sequential(nn.Linear(3, 2), QCFS(5, 0.7))
    target = nn.Sequential(nn.Linear(3, 2), QCFS(8))
    target.load_state_dict(load(save(source.state_dict())))
    assert target[1].levels == 5
    assert torch.equal(target[1].threshold, source[1].threshold)


def test_levels_change_after_construction() -> None:
    qcfs = QCFS(2, 1.0)
    z = torch.tensor([0.3])
    assert qcfs(z).item() == 0.5
    qcfs.levels = 4
    assert qcfs(z).item() == 0.25


def test_saturation_and_ties() -> None:
    z = torch.tensor([-5.0, 0.0, 0.4999, 0.5, 1.5, 3.4999, 3.5, 99.0])
    assert qcfs_count(z, 1.0, 4).tolist() == [0, 0, 0, 1, 2, 3, 4, 4]


@given(seed=st.integers(0, 2**32), levels=st.integers(1, 32), places=st.lists(st.integers(1, 3), max_size=3))
def test_thresholds_per_channel_are_as_many_layers(seed: int, levels: int, places: list[int]) -> None:
    """Each channel with its values and gradients is a QCFS with that threshold alone."""
    generator = torch.Generator().manual_seed(seed)
    thresholds = 0.05 + 4 * torch.rand(5, generator=generator, dtype=torch.float64)
    z = (3 * torch.randn(4, 5, *places, generator=generator, dtype=torch.float64)).requires_grad_()
    weights = torch.randn(z.shape, generator=generator, dtype=torch.float64)
    many = QCFS(levels, thresholds).double()
    many.threshold = thresholds
    output = many(z)
    output.backward(weights)
    for channel, threshold in enumerate(thresholds):
        one = QCFS(levels, threshold).double()
        one.threshold = threshold
        alone = z.detach()[:, channel].clone().requires_grad_()
        expected = one(alone)
        expected.backward(weights[:, channel])
        assert torch.equal(output[:, channel], expected)
        assert torch.equal(many.count(z)[:, channel], one.count(alone))
        assert torch.equal(z.grad[:, channel], alone.grad)
        torch.testing.assert_close(many.raw_threshold.grad[channel], one.raw_threshold.grad)


def test_states_decide_between_one_threshold_and_one_per_channel() -> None:
    one, many = QCFS(4, 0.7), QCFS(8, torch.tensor([0.1, 0.5, 3.0]))
    optimised = many.raw_threshold
    for source, target in ((one, many), (QCFS(8, torch.tensor([0.1, 0.5, 3.0])), QCFS(2))):
        target.load_state_dict(load(save(source.state_dict())))
        assert torch.equal(target.threshold, source.threshold)
        assert target.levels == source.levels
    assert many.raw_threshold is optimised  # an optimiser that holds it still does
    torch.testing.assert_close(target.threshold.detach(), torch.tensor([0.1, 0.5, 3.0]), rtol=1e-5, atol=0)
    target.threshold = 2.0
    assert target.threshold.tolist() == [2.0] * 3
    assert "threshold=2..2 of 3 channels" in repr(target)
