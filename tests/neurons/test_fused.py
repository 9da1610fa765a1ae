"""The compiled kernels of QCFS beside the same arithmetic written as tensors."""

import multiprocessing
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from pascal import QCFS
from pascal.neurons import fused, straight_through

SHAPE = (5, 7, 33, 17)  # 19,635 numbers: one whole block and a part of another


def preactivations(dtype: torch.dtype, layout: torch.memory_format = torch.contiguous_format) -> Tensor:
    """Random ones, and among them every tie, both ends of the clip and what is no number."""
    z = 2 * torch.randn(SHAPE, generator=torch.Generator().manual_seed(3))
    step = torch.tensor(1.7) / 4
    special = torch.cat([(torch.arange(-3, 8) + 0.5) * step, torch.tensor([0.0, -0.0, 1.7, 1e30, -1e30, 1e-40])])
    z.view(-1)[: 3 * len(special)] = torch.cat([special, special.nextafter(step), special.nextafter(-step)])
    return z.to(dtype).contiguous(memory_format=layout)


def passes(z: Tensor, gradient: Tensor, levels: int = 4, threshold: float = 1.7) -> tuple[Tensor, Tensor, Tensor]:
    layer, leaf = QCFS(levels, threshold), z.clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16, enabled=z.dtype == torch.bfloat16):
        output = layer(leaf)
    output.backward(gradient)
    return output.detach(), leaf.grad, layer.raw_threshold.grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("levels", [1, 4, 7, 255, 1000])
def test_kernels_give_the_values_of_the_tensors(monkeypatch, dtype, layout, levels):
    z = preactivations(dtype, layout)
    gradient = torch.randn(SHAPE, generator=torch.Generator().manual_seed(4)).to(dtype)
    assert fused.fits(z, torch.tensor(1.7))
    output, of_z, of_threshold = passes(z, gradient, levels)
    monkeypatch.setattr(straight_through, "_LARGE", z.numel() + 1)
    expected, expected_of_z, expected_of_threshold = passes(z, gradient, levels)
    assert torch.equal(output, expected)
    assert torch.equal(output.signbit(), expected.signbit())
    assert output.stride() == expected.stride()
    assert torch.equal(of_z, expected_of_z)
    torch.testing.assert_close(of_threshold, expected_of_threshold, rtol=2e-4, atol=2e-3)  # sums in another order


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_threshold_gradient_is_the_exact_sum_of_dyadic_numbers(dtype):
    """Eighths and whole gradients: every partial sum is exact, whatever its order."""
    z = (torch.arange(40_000) % 49 - 16).div(8).to(dtype)
    gradient = (torch.arange(40_000) % 5 - 1).to(dtype)
    _, of_z, of_threshold = passes(z, gradient, 4, 2.0)
    inside = (z >= 0) & (z <= 2)
    slope = QCFS(4, 2.0).count(z).double() / 4 - torch.where(inside, z.double() / 2, 0)
    assert torch.equal(of_z, torch.where(inside, gradient, 0))
    assert of_threshold.item() == (gradient.double() * slope).sum().item()


def test_no_number_of_threads_changes_anything(monkeypatch):
    monkeypatch.setattr(fused, "_BLOCKS_PER_THREAD", 1)
    z, gradient = torch.randn(2, 100_001, generator=torch.Generator().manual_seed(5))
    threads, answers = torch.get_num_threads(), []
    try:
        for number in (1, 2, 3, 7):
            torch.set_num_threads(number)
            answers.append(passes(z, gradient))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(a, b) for answer in answers[1:] for a, b in zip(answer, answers[0], strict=True))


def test_gradients_of_the_expanded_and_the_transposed():
    """What autograd hands on is not always memory in one piece."""
    z = torch.randn(200, 200, generator=torch.Generator().manual_seed(6))
    for gradient in (torch.ones(()).expand(200, 200), torch.arange(200.0)[:, None].expand(200, 200).t()):
        _, of_z, _ = passes(z, gradient)
        assert torch.equal(of_z, torch.where((z >= 0) & (z <= 1.7), gradient, 0))


def test_what_is_no_number_stays_visible():
    for dtype in (torch.float32, torch.bfloat16):
        z = torch.zeros(20_000, dtype=dtype)
        z[::1000] = torch.nan
        output, _, _ = passes(z, torch.zeros_like(z))
        assert output.isnan().equal(z.isnan())


def test_second_derivatives_are_those_of_the_tensors():
    z = torch.rand(20_000).requires_grad_()
    layer = QCFS(4, 1.7)
    gradient = z.detach().clone().requires_grad_()
    (first,) = torch.autograd.grad(layer(z), z, gradient, create_graph=True)
    assert torch.autograd.grad(first.sum(), gradient)[0].sum() == 20_000


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("record", [partial(torch.jit.trace, check_trace=False), lambda f, z: make_fx(f)(z)])
def test_recorded_graphs_hold_the_layer_and_not_its_answer(record):
    layer, z = QCFS(4, 1.7).eval(), torch.rand(20_000)
    with torch.no_grad():
        assert torch.equal(record(layer, z)(2 * z), layer(2 * z))


def test_a_forked_process_has_threads_of_its_own(monkeypatch):
    """Those of its parent are gone, and work given to them would never be done."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    fused._by_blocks(600_000, lambda first, last: None)
    child = multiprocessing.get_context("fork").Process(
        target=fused._by_blocks, args=(600_000, lambda first, last: None), daemon=True
    )
    child.start()
    child.join(60)
    assert child.exitcode == 0


def test_shapes_alone_pass_through():
    """Networks are measured on tensors without memory, which know no autocast."""
    assert QCFS(4, 1.7).to("meta")(torch.empty(3, 20_000, device="meta")).shape == (3, 20_000)
