"""Every engine against the ANN and against other simulators: time, memory, conversion; targets beside the measured.

`python -m benchmarks.speed.engines OUT` writes OUT/engines_{conversion,profile,memory,times,training,compiled}.csv and
engines.png; `--only` one of them. SpikingJelly is measured where `pip install pascal-snn[benchmark]` put it.
On a busy machine the ratios of CPU time with `--threads 1` are the ones to trust.
"""

import argparse
import importlib.util
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pandas as pd
import torch
from torch import Tensor, nn
from tqdm import tqdm

import pascal
from benchmarks.speed.engines_figure import engines_figure
from benchmarks.speed.memory import peak_bytes
from benchmarks.speed.profile import profiled
from benchmarks.speed.timing import take_turns
from benchmarks.speed.training import AUGMENTATIONS, loaders, steps
from benchmarks.speed.variants import alive_network, make
from pascal.report.style import save_figure

LEVELS = (1, 4, 8, 16, 32)
STEPWISE = (4, 8)  # levels at which timestep by timestep is measured too
ROUNDS = 5  # of the training step, whose ratio lies close to its target
COMPILED = 8  # levels at which torch.compile is measured: its warm-up takes minutes, and levels change no kernel

# (variant, unit): the target at L levels, with its sign: at most, or at least
TARGETS: dict[tuple[str, str], Callable[[int], tuple[str, float]]] = {
    ("counts", "ANN"): lambda levels: ("≤", 1.10),
    ("counts", "ANN, compiled"): lambda levels: ("≤", 1.10),
    ("counts, compiled", "ANN, compiled"): lambda levels: ("≤", 1.10),
    ("integer", "ANN"): lambda levels: ("≤", 0.7),
    ("integer", "ANN, compiled"): lambda levels: ("≤", 0.7),
    ("steps", "ANN"): lambda levels: ("≤", 1.3 * levels),
    ("plain stepwise", "counts"): lambda levels: ("≥", float(levels)),
    ("SpikingJelly", "counts"): lambda levels: ("≥", float(levels)),
}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--networks", nargs="+", default=["vgg16", "resnet18"])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    measures = {"conversion": conversion, "profile": profiles, "memory": memory, "times": times,
                "training": training, "compiled": compiled}  # fmt: skip
    parser.add_argument("--only", choices=list(measures))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    arguments.out.mkdir(parents=True, exist_ok=True)
    tables = {}
    for name in measures if arguments.only is None else [arguments.only]:
        tables[name] = measures[name](arguments)
        print(tables[name].to_string(index=False, float_format="%.3f"))
        tables[name].to_csv(arguments.out / f"engines_{name}.csv", index=False, float_format="%.4g")
    if arguments.only is None:
        save_figure(engines_figure(tables["times"], tables["memory"]), arguments.out / "engines")


def times(arguments: argparse.Namespace) -> pd.DataFrame:
    """Ratios of times, each with its target."""
    images = torch.randn(arguments.batch, 3, 32, 32).contiguous(memory_format=torch.channels_last)
    cases = [(network, levels, variants(levels)) for network in arguments.networks for levels in LEVELS]
    tables = [_times_of(*case, images, arguments) for case in tqdm(cases, "networks and levels")]
    return pd.concat(tables, ignore_index=True)


def compiled(arguments: argparse.Namespace) -> pd.DataFrame:
    """The same beside an ANN that torch.compile has made as fast as it can."""
    images = torch.randn(arguments.batch, 3, 32, 32).contiguous(memory_format=torch.channels_last)
    names = ["ANN, compiled", "counts, compiled", "counts", "integer"]
    tables = [_times_of(network, COMPILED, names, images, arguments) for network in arguments.networks]
    return pd.concat(tables, ignore_index=True)


def training(arguments: argparse.Namespace) -> pd.DataFrame:
    """One training step with QCFS over one with ReLU, and a batch of images over the step that consumes it."""
    repeats = 3 * arguments.repeats
    rounds = [row for _ in range(ROUNDS) for row in steps(repeats, compiled=False) + loaders(repeats)]
    by_variant = pd.DataFrame(rounds).groupby("variant")
    measured = by_variant.median().assign(low=by_variant.wall_ratio.min(), high=by_variant.wall_ratio.max())
    limits = dict.fromkeys(("QCFS", "QCFS, bfloat16 products"), ("ReLU", 1.10))
    limits |= dict.fromkeys(AUGMENTATIONS, ("QCFS", 0.05))
    table = measured.loc[list(limits), ["wall_ratio", "low", "high", "cpu_ratio", "wall_ms"]]
    table["unit"], limit = ([*column] for column in zip(*limits.values(), strict=True))
    table["target"], table["met"] = [f"≤ {each:g}" for each in limit], table.wall_ratio <= limit
    return table.assign(threads=arguments.threads).reset_index()


def _times_of(
    network: str, levels: int, names: list[str], images: Tensor, arguments: argparse.Namespace
) -> pd.DataFrame:
    ann = alive_network(network, levels)
    works = {name: _inference(make(name, ann, levels), images) for name in names}
    measured = take_turns(works, arguments.repeats, f"{network}, L={levels}")
    rows = []
    for (variant, unit), target in TARGETS.items():
        if variant in measured and unit in measured:
            ratios = measured[variant].ratios(measured[unit])
            sign, limit = target(levels)
            met = ratios["wall_ratio"] <= limit if sign == "≤" else ratios["wall_ratio"] >= limit
            rows.append(
                {"network": network, "levels": levels, "variant": variant, "unit": unit}
                | ratios
                | {"target": f"{sign} {limit:g}", "met": met, "wall_ms": measured[variant].wall_ms}
                | {"threads": arguments.threads, "batch": len(images)}
            )
    return pd.DataFrame(rows)


def variants(levels: int) -> list[str]:
    """What is measured at these levels."""
    names = ["ANN", "counts", "integer"]
    if levels in STEPWISE:
        names += ["steps", "plain stepwise"]
        names += ["SpikingJelly"] if importlib.util.find_spec("spikingjelly") else []
    return names


def _inference(model: nn.Module, images: Tensor) -> Callable[[], Tensor]:
    @torch.inference_mode()
    def run() -> Tensor:
        return model(images)

    return run


def memory(arguments: argparse.Namespace) -> pd.DataFrame:
    """Peak bytes; the bound of `steps` is the ANN's plus 1.5 times the largest layer's train.

    A train is counted at one byte per spike, as stored; `met_as_floats` counts it at four, as other simulators hold it.
    """
    rows = []
    for network in arguments.networks:
        ann = peak_bytes(network, "ANN", 1, arguments.batch)
        for engine, levels in (("counts", 8), ("steps", 4), ("steps", 8)):
            train = 1.5 * levels * arguments.batch * _largest_layer(network)
            limits = [ann + train, ann + 4 * train] if engine == "steps" else [1.1 * ann] * 2
            peak = peak_bytes(network, engine, levels, arguments.batch)
            row = {"network": network, "engine": engine, "levels": levels, "peak_bytes": peak, "ann_bytes": ann}
            met = {"limit_bytes": limits[0], "met": peak <= limits[0], "met_as_floats": peak <= limits[1]}
            rows.append(row | {"ratio": peak / ann} | met)
    return pd.DataFrame(rows)


def _largest_layer(network: str) -> int:
    layers = pascal.measure(alive_network(network, 1), [torch.randn(1, 3, 32, 32)])
    return max(layer.neurons for layer in layers)


def conversion(_: argparse.Namespace) -> pd.DataFrame:
    """Seconds to convert ResNet-18; of integers, with the first image, whose size they depend on. Target: 2 s."""
    ann, image = alive_network("resnet18", 8), torch.randn(1, 3, 32, 32)
    rows = []
    for engine in ("steps", "counts", "integer"):
        start = perf_counter()
        snn = pascal.convert(ann, engine=engine)
        if engine == "integer":
            snn(image)
        seconds = perf_counter() - start
        rows.append({"network": "resnet18", "engine": engine, "seconds": seconds, "met": seconds <= 2})
    return pd.DataFrame(rows)


def profiles(arguments: argparse.Namespace) -> pd.DataFrame:
    """Where the time goes: what bounds each variant."""
    images = torch.randn(arguments.batch, 3, 32, 32).contiguous(memory_format=torch.channels_last)
    tables = []
    for network in arguments.networks:
        ann = alive_network(network, 8)
        for variant in ("ANN", "counts", "integer", "steps"):
            table = profiled(_inference(make(variant, ann, 8), images))
            tables.append(table.assign(network=network, variant=variant))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    main()
