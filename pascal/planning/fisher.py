"""A cheaper score: squared errors of the activations, weighted by the Fisher information; one backward pass in all."""

import torch
from scipy.stats import spearmanr
from torch import Tensor, nn

from pascal.planning.network import Assignment, Change, Network
from pascal.planning.sensitivity import Judge, Sensitivity

_COMPARED_IMAGES = 64  # of those, how well the score ranks what is measured


class Fisher:
    """½ Σ g² (e'² − e²) per image: e is a layer's error against the start, g the gradient of log p(y), y drawn from p.

    It sees no interaction of layers and no large change truly; at one or two levels, measure.
    """

    def __init__(self, judge: Judge, seed: int) -> None:
        self.judge, self._seed = judge, seed
        self.rank_correlation: float | None = None

    def __call__(self, point: Assignment, changes: list[Change]) -> Sensitivity:
        """The scores of all changes around a point."""
        changes = [change for change in changes if point[change[0]] != change[1]]
        network, images = self.judge.network, self.judge.images
        generator = torch.Generator(images.device).manual_seed(self._seed)
        base = self.judge.loss(point)
        pieces = [_scores(network, piece, point, changes, generator) for piece in images.split(network.piece)]
        added = torch.cat(pieces, 1) if pieces else torch.zeros(len(changes), 0)
        found = {change: base + added[number] for number, change in enumerate(changes)}
        if self.rank_correlation is None and len(changes) > 2:
            self.rank_correlation = self._compare(point, changes, added)
        return Sensitivity(point, base, found)

    def _compare(self, point: Assignment, changes: list[Change], added: Tensor) -> float:
        measured = self.judge.sensitivity(point, changes, first=_COMPARED_IMAGES)
        return float(spearmanr([measured.score(change).mean for change in changes], added.mean(1)).statistic)


def _scores(
    network: Network, images: Tensor, point: Assignment, changes: list[Change], generator: torch.Generator
) -> Tensor:
    """Shape: (changes, images)."""
    ann = network.copy(point)
    seen: dict[str, list[tuple[Tensor, Tensor]]] = {path: [] for path in point}
    hooks = [ann.get_submodule(path).register_forward_hook(_remember(seen[path])) for path in point]
    logits = ann(images.clone().requires_grad_())
    for hook in hooks:
        hook.remove()
    log_p = logits.log_softmax(1).movedim(1, -1)
    drawn = torch.multinomial(log_p.detach().exp().flatten(0, -2), 1, generator=generator).view(*log_p.shape[:-1], 1)
    outputs = [output for calls in seen.values() for _, output in calls]
    gradients = iter(torch.autograd.grad(log_p.gather(-1, drawn).sum(), outputs))
    weights = {path: [next(gradients).square() for _ in calls] for path, calls in seen.items()}
    with torch.no_grad():
        return torch.stack([_score(network, seen[path], weights[path], point, (path, s)) for path, s in changes])


def _score(
    network: Network,
    calls: list[tuple[Tensor, Tensor]],
    weights: list[Tensor],
    point: Assignment,
    change: Change,
) -> Tensor:
    path, setting = change
    total = 0.0
    for (preactivation, output), weight in zip(calls, weights, strict=True):
        start = network.layers[path](preactivation)
        error, present = network.neuron(path, setting)(preactivation) - start, output - start
        total = total + (weight * (error.square() - present.square())).flatten(1).sum(1).double().cpu() / 2
    return torch.as_tensor(total)


def _remember(calls: list[tuple[Tensor, Tensor]]) -> "nn.modules.module._ForwardHook":  # type: ignore[name-defined]
    def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        calls.append((inputs[0].detach(), output))

    return hook
