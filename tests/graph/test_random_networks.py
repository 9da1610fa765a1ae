"""Random networks of the operations that people write: each engine is exact, or refuses with a PascalError."""

import random
import traceback
from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

import pascal
from pascal import QCFS, PascalError
from tests.graph.random_networks import RandomNetwork, images

EXACT, REFUSED = "exact", "refused"
FEW = range(60)
MANY = [range(first, first + 250) for first in range(1000, 3000, 250)]


def judge(seed: int, raises: bool = False) -> dict[str, str]:
    """What becomes of the network of a seed: "exact", "refused: …", "WRONG: …" or "CRASH: …" for each engine."""
    outcomes: dict[str, str] = {}
    try:
        ann = quantized(seed)
        outcomes["quantize"] = EXACT
        batch, levels = images(seed + 1), {}
        outcomes["steps"] = _attempt(lambda: _exact(ann, "steps", batch))
        outcomes["counts"] = _attempt(lambda: _exact(ann, "counts", batch, levels))
        outcomes["integer"] = _attempt(lambda: _whole(ann, batch, levels))
    except PascalError as error:
        outcomes["quantize"] = f"{REFUSED}: {' '.join(str(error).split())[:160]}"
    except AssertionError as error:
        outcomes["quantize"] = f"WRONG: {' '.join(str(error).split())[:160]}"
    except Exception:
        if raises:
            raise
        outcomes["quantize"] = f"CRASH: {traceback.format_exc(limit=-2)}"
    return outcomes


def quantized(seed: int) -> nn.Module:
    """The network with QCFS, held to the network itself, with levels and thresholds of every kind."""
    network, batch = RandomNetwork(seed), images(seed + 1)
    expected = network(batch.clone())
    ann = pascal.quantize(network, example=images(seed) if seed % 2 else None).eval()
    layers = [module for module in ann.modules() if isinstance(module, QCFS)]
    hooks = [layer.register_forward_hook(_as_relu) for layer in layers]
    for mine, theirs in zip(tree_leaves(ann(batch.clone())), tree_leaves(expected), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-9)
    for hook in hooks:
        hook.remove()
    _fit(ann, batch, random.Random(seed))
    return ann


def _as_relu(layer: QCFS, inputs: tuple[Tensor, ...], _: Tensor) -> Tensor:
    """The activation in whose place the QCFS stands."""
    return inputs[0].clamp(0, layer.clip)


def _fit(ann: nn.Module, batch: Tensor, rng: random.Random) -> None:
    def fit(layer: QCFS, inputs: tuple[Tensor, ...]) -> None:
        layer.levels = rng.choice((1, 2, 3, 4, 5, 8))
        channels = inputs[0].shape[1] if inputs[0].ndim > 1 and rng.random() < 0.25 else 1
        spread = float(inputs[0].detach().std()) + 0.1
        threshold = torch.tensor([spread * rng.uniform(0.7, 2.5) for _ in range(channels)], dtype=torch.float64)
        layer.threshold = threshold if channels > 1 else float(threshold)

    hooks = [module.register_forward_pre_hook(fit) for module in ann.modules() if isinstance(module, QCFS)]  # type: ignore[arg-type]
    ann(batch.clone())
    for hook in hooks:
        hook.remove()


def _attempt(run: Any) -> str:
    try:
        return run()
    except PascalError as error:
        return f"{REFUSED}: {' '.join(str(error).split())[:160]}"
    except Exception:
        return f"CRASH: {traceback.format_exc(limit=-2)}"


def _exact(ann: nn.Module, engine: str, batch: Tensor, keep: dict[str, Tensor] | None = None) -> str:
    snn = pascal.convert(ann, engine=engine)
    certificate = pascal.verify(ann, snn, batch)
    if keep is not None:
        keep.update(snn.record(batch)[1])
    return EXACT if certificate.passed else f"WRONG: {certificate}"


def _whole(ann: nn.Module, batch: Tensor, levels: dict[str, Tensor]) -> str:
    """Integers in closed form and timestep by timestep are equal, and where pixels are read not far from the ANN."""
    snn: Any = pascal.convert(ann, engine="integer")
    certificate = pascal.verify(snn.stepwise(), snn, batch)
    if not certificate.passed or certificate.logit_bound != 0:
        return f"WRONG: {certificate}"
    counts = snn.record(batch)[1]
    first = next((path for path in levels if path in counts), None)  # not a neuron of which only the shape is read
    if first is None:
        return EXACT
    distance = float((counts[first] - levels[first]).abs().double().mean()) / snn.levels[first]
    return EXACT if distance < 0.3 else f"WRONG: counts are {distance:.0%} of the levels away from those of the ANN"


def _sweep(seeds: range) -> Counter[str]:
    found: Counter[str] = Counter()
    faults: list[str] = []
    for seed in seeds:
        for stage, outcome in judge(seed).items():
            kind = outcome.partition(":")[0]
            found[f"{stage} {kind}"] += 1
            if kind not in (EXACT, REFUSED):
                faults.append(f"python -m tests.graph.random_networks {seed}  # {stage} {outcome}")
    print(f"random networks of seeds {seeds}: {dict(found)}")
    assert not faults, "\n".join(faults)
    return found


def test_few() -> None:
    found = _sweep(FEW)
    assert found["steps exact"] > len(FEW) / 4, "networks that are all refused prove nothing"


@pytest.mark.slow
@pytest.mark.parametrize("seeds", MANY, ids=str)
def test_many(seeds: range) -> None:
    found = _sweep(seeds)
    assert found["quantize exact"] + found["quantize refused"] == len(seeds)
    assert found["steps exact"] > len(seeds) / 4
    assert found["integer exact"] > len(seeds) / 8


def test_many_are_enough() -> None:
    assert sum(map(len, MANY)) >= 2000
