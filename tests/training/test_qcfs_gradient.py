"""The gradient that training relies on: closed at both ends of [0, θ], in every floating type, and light on memory."""

import pytest
import torch
from torch import nn

from pascal.neurons import QCFS


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("levels", [1, 3, 4, 32])
def test_the_clip_passes_gradients_on_from_0_to_theta_inclusive(dtype, levels):
    layer = QCFS(levels, 1.5).to(dtype)
    number = torch.finfo(dtype)
    inside = [0.0, number.tiny, 0.75, 1.5 - 2 * number.eps, 1.5]
    outside = [-number.tiny, -1.0, 1.5 + 2 * number.eps, 3.0]
    preactivation = torch.tensor(inside + outside, dtype=dtype, requires_grad=True)
    layer(preactivation).sum().backward()
    assert preactivation.grad.tolist() == [1.0] * len(inside) + [0.0] * len(outside)


def test_gradients_on_dyadic_numbers_are_exact():
    """Preactivations in eighths, θ = 2, L = 4: every quotient is exact, and so is every sum."""
    layer = QCFS(4, 2.0)
    preactivation = (torch.arange(-16, 33) / 8).requires_grad_()
    weights = torch.arange(1.0, 50.0)
    (layer(preactivation) * weights).sum().backward()
    z = preactivation.detach()
    inside = (z >= 0) & (z <= 2)
    assert torch.equal(preactivation.grad, torch.where(inside, weights, 0))
    count = layer.count(z)
    assert layer.raw_threshold.grad == (weights * (count / 4 - torch.where(inside, z / 2, 0))).sum()


def test_autograd_keeps_one_tensor_of_the_images_size():
    kept = []
    preactivation = torch.randn(4, 8, requires_grad=True)
    layer = QCFS()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
        layer(preactivation)
    assert kept.count(32) == 1


@pytest.mark.parametrize("of_images", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("of_gradient", [torch.contiguous_format, torch.channels_last])
def test_memory_layout_changes_no_gradient(of_images, of_gradient):
    """Whole and half numbers, whose sums are exact in any order."""
    torch.manual_seed(0)
    z = torch.randint(-6, 14, (3, 5, 4, 2)) / 2
    weights = torch.randint(-8, 9, z.shape).float()
    preactivation = z.contiguous(memory_format=of_images).requires_grad_()
    layer = QCFS(4, 4.0)
    layer(preactivation).backward(weights.contiguous(memory_format=of_gradient))
    inside = (z >= 0) & (z <= 4)
    assert torch.equal(preactivation.grad, torch.where(inside, weights, 0))
    assert layer.raw_threshold.grad == (weights * (layer.count(z) / 4 - torch.where(inside, z / 4, 0))).sum()


def test_autocast_decides_levels_in_float32():
    """Under autocast the layer does what it does alone with the same rounded preactivations, but for the type of h."""
    torch.manual_seed(0)
    linear, layer = nn.Linear(8, 64), QCFS(200, 1.7)
    with torch.autocast("cpu", torch.bfloat16):
        preactivation = linear(torch.randn(16, 8)).detach().requires_grad_()
        output, count = layer(preactivation), layer.count(preactivation)
    output.backward(torch.arange(64.0, dtype=output.dtype).expand_as(output))
    assert (preactivation.dtype, output.dtype) == (torch.bfloat16, torch.bfloat16)

    alone, precise = QCFS(200, 1.7), preactivation.detach().float().requires_grad_()
    expected = alone(precise)
    expected.backward(torch.arange(64.0).expand_as(expected))
    assert torch.equal(output, expected.bfloat16())
    assert torch.equal(count, alone.count(precise))
    assert torch.equal(layer.raw_threshold.grad, alone.raw_threshold.grad)
    assert torch.equal(preactivation.grad, precise.grad.bfloat16())
    assert not torch.equal(alone.bfloat16().count(preactivation), count)  # bfloat16 would have been another network
