"""Faults that no schema sees: names that lead nowhere, cycles, lists that do not fit the network."""

from collections.abc import Iterator, Mapping
from typing import Any

from pascal.adapt.bounds import k_fault, moments_fault

from .errors import ParameterError
from .networks import count_layers
from .runs import merge

SOURCES = ("digits", "cifar10", "cifar100", "imagenet")

Params = Mapping[str, Any]


def check_semantics(params: Params) -> None:
    """Refuse parameters that contradict each other; every fault is told."""
    faults = [*_datasets(params), *_defaults(params)]
    for name, run in params["runs"].items():
        faults += _adaptive_run(name, run, params) if "from" in run else _uniform_run(name, run, params)
    if faults:
        raise ParameterError("\n".join(faults))


def _datasets(params: Params) -> Iterator[str]:
    for name, dataset in params["datasets"].items():
        source = dataset.get("source", name)
        if source not in SOURCES:
            where = f"datasets.{name}.source" if "source" in dataset else f"datasets.{name}"
            yield f"{where}: got {source!r}, expected one of {', '.join(SOURCES)}, as `source` or as the name"
        if ("mean" in dataset) != ("std" in dataset):
            yield f"datasets.{name}: got only one of mean and std, expected both or neither"


def _defaults(params: Params) -> Iterator[str]:
    for section, keys in _NEEDED.items():
        for key in keys:
            if key not in params["defaults"][section]:
                yield f"defaults.{section}.{key}: missing, expected a value that runs fall back on"
    if "levels" in params["defaults"]["adapt"]:
        got = params["defaults"]["adapt"]["levels"]
        yield f"defaults.adapt.levels: got {got}, expected it in a run: a list fits one network alone"
    for name, costs in params["defaults"]["energy"].items():
        for key in ("bits", "add_pj", "multiply_pj", "read_pj_per_byte", "write_pj_per_byte"):
            if key not in costs:
                yield f"defaults.energy.{name}.{key}: missing, expected a cost"


_NEEDED = {
    "train": ("epochs", "batch_size", "learning_rate"),
    "adapt": ("images", "clusters", "values", "p", "k", "moments", "reuse"),
    "verify": ("images", "batch_size", "dtype"),
    "evaluate": ("batch_size", "timesteps"),
    "workload": ("images", "batch_size", "timesteps"),
    "hardware": ("images", "accelerators"),
}


def _uniform_run(name: str, run: Params, params: Params) -> Iterator[str]:
    if run["dataset"] not in params["datasets"]:
        known = ", ".join(params["datasets"])
        yield f"runs.{name}.dataset: got {run['dataset']!r}, expected one of {known}; `datasets` lists what there is"
    yield from _shape(name, run)
    try:
        layers = count_layers(run["network"])
    except ParameterError as error:
        yield f"runs.{name}.network: {error}"
        return
    if isinstance(run["levels"], list) and len(run["levels"]) != layers:
        yield f"runs.{name}.levels: {_wrong_length(run['levels'], layers, run['network'])}"
    yield from _schedule(name, run, params)


def _shape(name: str, run: Params) -> Iterator[str]:
    """Networks of timm and torchvision come as they are."""
    for key, only in {"width": 1, "pool": "max"}.items():
        if ":" in run["network"] and run.get(key, only) != only:
            expected = f"expected none: {run['network']} comes as it is, leave {key} out"
            yield f"runs.{name}.{key}: got {run[key]!r}, {expected}"


def _adaptive_run(name: str, run: Params, params: Params) -> Iterator[str]:
    runs, start = params["runs"], run["from"]
    if start not in runs:
        yield f"runs.{name}.from: got {start!r}, expected the name of a run: {', '.join(n for n in runs if n != name)}"
        return
    if cycle := _cycle(name, runs):
        yield f"runs.{name}.from: got {start!r}, expected no cycle, but {' → '.join(cycle)}"
        return
    if "from" in runs[start]:
        yield f"runs.{name}.from: got {start!r}, itself adaptive; expected a uniform run, one without `from`"
        return
    yield from _schedule(name, run, params)
    yield from _adapt(name, run, params)


def _adapt(name: str, run: Params, params: Params) -> Iterator[str]:
    own, start = run["adapt"], params["runs"][run["from"]]
    network = start["network"]
    try:
        layers = count_layers(network)
    except ParameterError:
        return  # told at the run that names the network
    if "levels" in own:
        for key in sorted(own.keys() & _BY_METRIC):
            yield f"runs.{name}.adapt.{key}: got {own[key]!r} beside levels, expected one or the other"
        if len(own["levels"]) != layers:
            yield f"runs.{name}.adapt.levels: {_wrong_length(own['levels'], layers, network)}"
        return
    adapt = merge(params["defaults"]["adapt"], own)
    clusters, values = adapt.get("clusters", 0), adapt.get("values", [])
    if clusters > layers:
        yield f"runs.{name}.adapt.clusters: got {clusters}, expected at most the {layers} layers of {network}"
    if len(values) != clusters:
        yield f"runs.{name}.adapt.values: got {values}, expected {clusters} levels, one for each of the clusters"
    yield from _metric(f"runs.{name}.adapt", adapt, layers, start)


def _metric(where: str, adapt: Params, layers: int, start: Params) -> Iterator[str]:
    """What stage assign would refuse, after the training of `start`; there the histogram of L levels has L + 1 bins."""
    levels = start["levels"] if isinstance(start["levels"], list) else [start["levels"]]
    bins, coarsest = min(levels) + 1, f"a layer at L={min(levels)}"
    of_bins = adapt.get("threshold_over") == "bins"
    parts, named = (bins, f"bins of {coarsest}") if of_bins else (layers, f"layers of {start['network']}")
    if "k" in adapt and (fault := k_fault(adapt["k"], parts, named)):
        yield f"{where}.k: {fault}"
    if "moments" in adapt and (fault := moments_fault(adapt["moments"], bins, coarsest)):
        yield f"{where}.moments: {fault}"


_BY_METRIC = {"clusters", "values", "images", "k", "moments", "threshold_over", "order", "order_seed"}


def _schedule(name: str, run: Params, params: Params) -> Iterator[str]:
    start = params["runs"].get(run.get("from"), {})
    train = merge(merge(params["defaults"]["train"], start.get("train", {})), run.get("train", {}))
    epochs, warmup = train.get("epochs", 0), train.get("warmup_epochs", 0)
    if epochs and warmup >= epochs:
        yield f"runs.{name}.train.warmup_epochs: got {warmup}, expected fewer than the {epochs} epochs"
    together = train.get("processes", 1)
    if train.get("batch_size", 0) % together:
        got = f"got {train['batch_size']}, expected a multiple of the {together} processes that share a batch"
        yield f"runs.{name}.train.batch_size: {got}"
    if epochs == 0 and "weights" not in run and "from" not in run:
        yield f"runs.{name}.train.epochs: got 0, expected at least 1, or weights trained elsewhere"
    dataset = run.get("dataset", start.get("dataset"))
    if epochs and train.get("selection") == "best" and params["datasets"].get(dataset, {}).get("validation") == 0:
        got = f"got 'best', expected 'last', or images to choose by: datasets.{dataset}.validation is 0"
        yield f"runs.{name}.train.selection: {got}"
    if "from" not in run:
        return
    p = merge(params["defaults"]["adapt"], run["adapt"]).get("p")
    if p == 0 and "weights" not in start:
        yield f"runs.{name}.adapt.p: got 0, expected more: only weights trained elsewhere need no retraining"
    fewest, why = (2, "some to retrain, some to finetune") if p else (1, "to finetune")
    if epochs < fewest:
        yield f"runs.{name}.train.epochs: got {epochs}, expected at least {fewest}: {why}"


def _wrong_length(levels: list[int], layers: int, network: str) -> str:
    return f"got a list of {len(levels)}, expected {layers}, one for each layer of {network}"


def _cycle(name: str, runs: Params) -> list[str]:
    """The names along `from` back to `name`, or nothing."""
    path = [name]
    while (following := runs.get(path[-1], {}).get("from")) is not None:
        path.append(following)
        if following == name:
            return path
        if path.count(following) > 1:
            return []
    return []
