"""Networks made at random from the operations that people write, each given by a seed.

`python -m tests.graph.random_networks SEED` shows the network of a seed and what becomes of it.
"""

import random
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, prune

D = torch.float64
IMAGES = (3, 3, 6, 6)
_MOST = 2000  # elements of one value, all images together

Op = Callable[[random.Random, Any, list[Tensor]], Callable[[Any, list[Tensor]], Tensor | None] | None]
OPS: dict[str, tuple[float, Op]] = {}  # name → how often, and a maker of steps


def op(weight: float) -> Callable[[Op], Op]:
    def register(make: Op) -> Op:
        OPS[make.__name__] = weight, make
        return make

    return register


def images(seed: int) -> Tensor:
    return torch.randn(IMAGES, dtype=D, generator=torch.Generator().manual_seed(seed))


class RandomNetwork(nn.Module):
    """A program of steps; each reads values that earlier ones made, and returns another or changes one in place."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        rng = random.Random(seed)
        self.parts = nn.ModuleDict()
        self.names: list[str] = []
        self._program: list[Any] = []
        self.act, self.noise = nn.ReLU(inplace=True), nn.Dropout(0.3)
        self.register_buffer("constant", torch.randn(1, 4, 6, 6, dtype=D))
        self.register_buffer("scale", torch.rand(1, 4, 1, 1, dtype=D) + 0.5)
        with torch.no_grad():
            values = [images(seed)]
            self._grow(rng, values, "layer", "activate")
            for _ in range(rng.randint(2, 9)):
                names = list(OPS)
                self._grow(rng, values, *rng.choices(names, [OPS[name][0] for name in names]))
            self._grow(rng, values, "layer", "activate")
        self.output = rng.choice(("mean", "mean", "last", "tuple", "dict"))
        self.double().eval().requires_grad_(False)
        while not self._runs(images(seed)):  # values that share memory came apart while the program grew
            self._program.pop()

    def _runs(self, batch: Tensor) -> bool:
        try:
            self(batch)
        except RuntimeError:
            return False
        return True

    def _grow(self, rng: random.Random, values: list[Tensor], *names: str) -> None:
        for name in names:
            before = [value.clone() for value in values]
            try:
                step = OPS[name][1](rng, self, values)
                made = None if step is None else step(self, values)
            except (RuntimeError, IndexError, ValueError, TypeError):  # these values do not fit the operation
                values[:] = before
                continue
            if step is None or (made is not None and (made.numel() > _MOST or made.ndim < 2 or not made.numel())):
                values[:] = before
                continue
            values += [] if made is None else [made]
            self._program.append(step)
            self.names.append(name)

    def part(self, module: nn.Module) -> str:
        name = f"m{len(self.parts)}"
        self.parts[name] = module.double().eval()
        return name

    def forward(self, x: Tensor) -> Any:
        values = [x]
        for step in self._program:
            made = step(self, values)
            if made is not None:
                values.append(made)
        last = values[-1]
        if self.output == "tuple":
            return last, values[-2]
        if self.output == "dict":
            return {"out": last, "aux": [values[len(values) // 2]]}
        return last.flatten(2).mean(2) if self.output == "mean" and last.ndim > 2 else last


def recent(rng: random.Random, values: list[Tensor], axes: int | None = 4) -> int:
    """Rather a new value than an old one."""
    fitting = [i for i, value in enumerate(values) if axes is None or value.ndim == axes]
    return fitting[max(0, len(fitting) - 1 - int(rng.expovariate(1.2)))]


def pair(rng: random.Random, values: list[Tensor]) -> tuple[int, int]:
    """Two values of one shape, perhaps the same one."""
    i = recent(rng, values)
    alike = [j for j, value in enumerate(values) if value.shape == values[i].shape]
    return i, rng.choice(alike)


# ---- layers


@op(5)
def layer(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i = recent(rng, values)
    channels, groups = values[i].shape[1], 1
    out, kernel = rng.choice((2, 3, 4)), rng.choice((1, 2, 3))
    kind = rng.choice(("conv", "conv", "conv", "bn", "transposed", "linear", "depthwise", "mode"))
    if kind == "linear":
        net.parts[f"m{len(net.parts)}"] = nn.Linear(values[i].shape[-1], rng.choice((3, 4, 6))).double()
        name = list(net.parts)[-1]
        return lambda n, v: n.parts[name](v[i])
    if kind == "transposed":
        module: nn.Module = nn.ConvTranspose2d(channels, out, kernel, stride=rng.choice((1, 2)))
    elif kind == "depthwise":
        groups = channels
        module = nn.Conv2d(channels, 2 * channels, kernel, padding=kernel // 2, groups=groups)
    elif kind == "mode":
        mode = rng.choice(("reflect", "circular", "replicate"))
        module = nn.Conv2d(channels, out, 3, padding=1, padding_mode=mode)
    else:
        module = nn.Conv2d(channels, out, kernel, padding=kernel // 2, bias=rng.random() < 0.8)
    _customise(rng, module)
    name = net.part(module)
    if kind != "bn":
        return lambda n, v: n.parts[name](v[i])
    norm = net.part(batch_norm(out))
    return lambda n, v: n.parts[norm](n.parts[name](v[i]))


def _customise(rng: random.Random, module: nn.Module) -> None:
    kind = rng.random()
    if kind < 0.04:
        prune.random_unstructured(module, "weight", 0.5)
    elif kind < 0.08:
        parametrizations.weight_norm(module)
    elif kind < 0.12:
        module.register_forward_hook(lambda m, i, o: o * 1.5 - 0.25)
    elif kind < 0.14:
        module.register_forward_pre_hook(lambda m, i: (i[0] * 0.5 + 0.1,))


def batch_norm(channels: int) -> nn.Module:
    norm = nn.BatchNorm2d(channels)
    norm.running_mean.normal_(0, 0.5)  # type: ignore[union-attr]
    norm.running_var.uniform_(0.5, 2)  # type: ignore[union-attr]
    nn.init.normal_(norm.weight, 1, 0.3)
    nn.init.normal_(norm.bias, 0, 0.3)
    return norm


@op(1)
def norm_alone(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i = recent(rng, values)
    name = net.part(batch_norm(values[i].shape[1]))
    return lambda n, v: n.parts[name](v[i])


@op(1)
def functional_layer(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i = recent(rng, values)
    name = net.part(nn.Conv2d(values[i].shape[1], 4, 3, padding=1))
    return lambda n, v: F.conv2d(v[i], n.parts[name].weight * 0.5, n.parts[name].bias, padding=1)


@op(1)
def again(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i, name = recent(rng, values), rng.choice(list(net.parts))
    return lambda n, v: n.parts[name](v[i])


@op(1.5)
def product(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i = recent(rng, values)
    channels, width = values[i].shape[1], values[i].shape[3]
    name = net.part(nn.Linear(width, width, bias=False))
    mixing = net.part(nn.Linear(channels, 3, bias=False))
    return rng.choice((
        lambda n, v: v[i] @ n.parts[name].weight,
        lambda n, v: torch.matmul(n.parts[name].weight, v[i].transpose(2, 3)),
        lambda n, v: torch.einsum("nchw,dc->ndhw", v[i], n.parts[mixing].weight),
        lambda n, v: torch.einsum("nchw,dc->nhdw", v[i], n.parts[mixing].weight),
        lambda n, v: torch.tensordot(v[i], n.parts[mixing].weight, dims=([1], [1])).movedim(-1, 1),
    ))  # fmt: skip


# ---- activations


@op(6)
def activate(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i = recent(rng, values)
    return rng.choice((
        lambda n, v: F.relu(v[i]),
        lambda n, v: v[i].relu(),
        lambda n, v: torch.relu(input=v[i]),
        lambda n, v: F.relu6(v[i]),
        lambda n, v: v[i].clamp(min=0),
        lambda n, v: torch.clamp(v[i], 0.0, 4.0),
        lambda n, v: F.hardtanh(v[i], 0, 3),
        lambda n, v: F.threshold(v[i], 0.0, 0.0),
        lambda n, v: torch.maximum(v[i], torch.zeros_like(v[i])),
        lambda n, v: F.relu(F.max_pool2d(v[i], 2)),
        lambda n, v: F.relu(v[i], inplace=True),
        lambda n, v: v[i].relu_(),
        lambda n, v: n.act(v[i]),
        lambda n, v: n.act(v[i] + 0.25),
    ))  # fmt: skip


# ---- in place


@op(6)
def in_place(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i, j = pair(rng, values)
    channels, width = values[i].shape[1], values[i].shape[3]
    c, w = rng.randrange(channels), rng.randrange(1, width + 1)
    step = rng.choice((
        lambda n, v: v[i].add_(v[j]),
        lambda n, v: v[i].sub_(v[j], alpha=0.5),
        lambda n, v: v[i].mul_(0.75),
        lambda n, v: v[i].div_(-1.5),
        lambda n, v: v[i].neg_(),
        lambda n, v: v[i].__setitem__((slice(None), c), v[j][:, 0]),
        lambda n, v: v[i].__setitem__((slice(None), c), 0.3),
        lambda n, v: v[i].__setitem__((..., slice(0, w)), v[j][..., width - w :].clone()),
        lambda n, v: v[i][:, c].add_(0.25),
        lambda n, v: v[i][:, c:].mul_(2.0),
        lambda n, v: v[i].narrow(1, c, 1).copy_(v[j].narrow(1, 0, 1)),
        lambda n, v: v[i].select(1, c).zero_(),
        lambda n, v: v[i].chunk(2, 1)[0].add_(1.0),
        lambda n, v: v[i].unbind(1)[c].neg_(),
        lambda n, v: v[i].view(v[i].shape[0], -1).mul_(0.5),
        lambda n, v: v[i].flatten(1).add_(0.125),
        lambda n, v: v[i].detach().mul_(3),
        lambda n, v: v[i].transpose(2, 3).mul_(0.5),
        lambda n, v: v[i].fill_(0.2),
        lambda n, v: v[i].clamp_(min=0),
        lambda n, v: v[i].copy_(v[j]),
        lambda n, v: v[i].masked_fill_(n.constant[:, :channels] > 0, 0.3),
        lambda n, v: torch.add(v[i], 0.5, out=v[j]),
    ))  # fmt: skip

    def run(n: Any, v: list[Tensor]) -> None:
        step(n, v)  # the result is thrown away: what was written stays

    return run


@op(1.5)
def another_name(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i = recent(rng, values)

    def run(n: Any, v: list[Tensor]) -> Tensor:
        x = v[i]
        x += 0.5
        x *= 0.8
        return x  # the same tensor under a second name

    return run


# ---- joining, moving


@op(4)
def join(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i, j = pair(rng, values)
    channels = values[i].shape[1]
    dim = rng.choice((1, 1, 1, 2, 3))
    return rng.choice((
        lambda n, v: torch.cat((v[i], v[j]), dim),
        lambda n, v: torch.cat([v[i], torch.full_like(v[j], 0.37)], dim),
        lambda n, v: torch.cat([n.constant[:, :channels].expand(v[i].shape[0], -1, -1, -1), v[i]], dim),
        lambda n, v: torch.cat([v[i], torch.zeros_like(v[j])], dim),
        lambda n, v: torch.stack((v[i], v[j]), 1).sum(1),
        lambda n, v: torch.stack([v[i], torch.ones_like(v[i])], 2).flatten(1, 2),
        lambda n, v: torch.hstack((v[i], v[j])),
        lambda n, v: torch.where(n.constant[:, :channels] > 0, v[i], v[j]),
        lambda n, v: torch.where(n.constant[:, :channels] > 0, v[i], 0.5),
        lambda n, v: v[i].masked_fill(n.constant[:, :channels] > 0.5, 0.2),
    ))  # fmt: skip


@op(5)
def move(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i = recent(rng, values)
    channels = values[i].shape[1]
    mode, c = rng.choice(("constant", "circular", "reflect", "replicate")), rng.randrange(channels)
    order = torch.randperm(channels, generator=torch.Generator().manual_seed(rng.randrange(99)))
    return rng.choice((
        lambda n, v: v[i].chunk(2, 1)[0],
        lambda n, v: torch.split(v[i], 1, 1)[c],
        lambda n, v: v[i][:, c:],
        lambda n, v: v[i][:, :, 1:, ::2],
        lambda n, v: v[i].flip(1),
        lambda n, v: v[i].roll(1, 2),
        lambda n, v: v[i].transpose(2, 3),
        lambda n, v: v[i].permute(0, 2, 3, 1),
        lambda n, v: v[i].reshape(v[i].shape[0], -1, 2, v[i].shape[-1]),
        lambda n, v: v[i].view(v[i].size(0), 2, -1, v[i].size(3)),
        lambda n, v: F.pad(v[i], (1, 1, 1, 1), mode=mode),
        lambda n, v: v[i].repeat(1, 1, 2, 1),
        lambda n, v: v[i].index_select(1, order),
        lambda n, v: v[i][:, order],
        lambda n, v: F.interpolate(v[i], scale_factor=2),
        lambda n, v: F.channel_shuffle(v[i], 2),
        lambda n, v: F.pixel_shuffle(torch.cat([v[i]] * 4, 1), 2),
        lambda n, v: F.unfold(v[i], 2, stride=2).unflatten(1, (channels, -1)),
        lambda n, v: F.dropout(v[i], training=n.training),
        lambda n, v: n.noise(v[i]),
        lambda n, v: v[i].contiguous().clone(),
        lambda n, v: v[i].diagonal(0, 2, 3).unsqueeze(2),
        lambda n, v: v[i].triu(),
        lambda n, v: v[i].mean((2, 3), keepdim=True).expand(-1, -1, 4, 4),
    ))  # fmt: skip


# ---- sums, products with constants, means


@op(6)
def linear(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i, j = pair(rng, values)
    channels = values[i].shape[1]
    return rng.choice((
        lambda n, v: v[i] + v[j],
        lambda n, v: v[i] - v[j],
        lambda n, v: torch.add(v[i], v[j], alpha=0.3),
        lambda n, v: torch.sub(v[i], v[j], alpha=-0.7),
        lambda n, v: v[i] + n.constant[:, :channels],
        lambda n, v: 0.5 - v[i],
        lambda n, v: torch.rsub(v[i], v[j], alpha=0.5),
        lambda n, v: v[i] * n.scale[:, :channels],
        lambda n, v: -v[i] / 1.5,
        lambda n, v: torch.lerp(v[i], v[j], 0.3),
        lambda n, v: torch.lerp(v[i], n.constant[:, :channels].expand_as(v[i]), 0.25),
        lambda n, v: torch.addcmul(v[i], v[j], n.scale[:, :channels], value=0.5),
        lambda n, v: torch.addcmul(v[i], n.scale[:, :channels], n.scale[:, :channels]),
        lambda n, v: torch.addcdiv(v[i], v[j], n.scale[:, :channels], value=-0.5),
        lambda n, v: v[i].mean(1, keepdim=True),
        lambda n, v: v[i] - v[i].mean((2, 3), keepdim=True),
        lambda n, v: v[i].sum(3, keepdim=True),
        lambda n, v: F.avg_pool2d(v[i], 2),
        lambda n, v: F.avg_pool2d(v[i], 3, 2, 1, ceil_mode=True, count_include_pad=False),
        lambda n, v: F.adaptive_avg_pool2d(v[i], (2, 3)),
        lambda n, v: F.interpolate(v[i], scale_factor=2, mode="bilinear"),
        lambda n, v: F.interpolate(v[i], size=(5, 4), mode="bilinear", align_corners=True),
        lambda n, v: F.fold(F.unfold(v[i], 2), v[i].shape[2:], 2),
        lambda n, v: v[i].cumsum(2),
    ))  # fmt: skip


@op(4)
def maximum(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    i, j = pair(rng, values)
    return rng.choice((
        lambda n, v: F.max_pool2d(v[i], 2),
        lambda n, v: F.max_pool2d(v[i], 3, 2, 1, ceil_mode=True),
        lambda n, v: F.adaptive_max_pool2d(v[i], 2),
        lambda n, v: v[i].amax(1, keepdim=True),
        lambda n, v: v[i].max(1, keepdim=True)[0],
        lambda n, v: v[i].amax((2, 3), keepdim=True),
        lambda n, v: torch.maximum(v[i], v[j]),
        lambda n, v: torch.maximum(v[i], v[i].flip(3)),
        lambda n, v: F.max_pool2d(torch.cat((v[i], v[j]), 1), 2),
        lambda n, v: F.max_pool2d(torch.cat((v[i], v[j]), 2), 3, 2),
        lambda n, v: F.max_pool2d(torch.cat((v[i], torch.zeros_like(v[j])), 2), 2),
        lambda n, v: F.max_pool2d(F.interpolate(v[i], scale_factor=2), 3),
    ))  # fmt: skip


@op(0.5)
def outside(rng: random.Random, net: Any, values: list[Tensor]) -> Any:
    """What the theorems do not cover."""
    i, j = pair(rng, values)
    return rng.choice((
        lambda n, v: v[i] * v[j],
        lambda n, v: torch.div(v[i], 0.3, rounding_mode="floor"),
        lambda n, v: v[i] // 0.4,
        lambda n, v: v[i].abs(),
        lambda n, v: torch.sigmoid(v[i]),
        lambda n, v: v[i] / (v[j].abs() + 1),
        lambda n, v: v[i] - v[i].mean(0, keepdim=True),
        lambda n, v: v[i].flip(0),
        lambda n, v: v[i].float().double(),
        lambda n, v: F.pad(v[i], (1, 1), value=0.5),
        lambda n, v: F.dropout(v[i]),
        lambda n, v: torch.minimum(v[i], v[j]),
        lambda n, v: v[i].argmax(1, keepdim=True).double(),
        lambda n, v: v[i] * (v[j] > 0.5),
    ))  # fmt: skip


if __name__ == "__main__":
    from tests.graph.test_random_networks import judge

    for seed in map(int, sys.argv[1:]):
        print(seed, RandomNetwork(seed).names, *judge(seed, raises=True).items(), sep="\n  ")
