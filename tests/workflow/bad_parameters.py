"""Ways to get `params.yaml` wrong: what is done to a good file, and what the message must then name."""

from collections.abc import Callable
from typing import Any, NamedTuple

Params = dict[str, Any]


class Fault(NamedTuple):
    """A change of good parameters, and the key's path, the value and the expectation that the error tells."""

    name: str
    change: Callable[[Params], Any]
    path: str
    value: str
    expected: str


def _set(*keys: Any) -> Callable[[Params], None]:
    """Put the last of `keys` where the others lead."""

    def change(params: Params) -> None:
        *path, last, value = keys
        for key in path:
            params = params.setdefault(key, {})
        params[last] = value

    return change


def _drop(*keys: str) -> Callable[[Params], None]:
    def change(params: Params) -> None:
        for key in keys[:-1]:
            params = params[key]
        del params[keys[-1]]

    return change


def _all(*changes: Callable[[Params], Any]) -> Callable[[Params], None]:
    def change(params: Params) -> None:
        for one in changes:
            one(params)

    return change


def _planned(**adapt: Any) -> Callable[[Params], None]:
    return _set("runs", "adaptive", "adapt", {"method": "plan", **adapt})


def _cycle(params: Params) -> None:
    params["runs"] |= {"a": {"from": "b", "adapt": {}}, "b": {"from": "a", "adapt": {}}}


RUN, AL = ("runs", "plain"), ("runs", "adaptive")
ACCELERATORS = ("defaults", "hardware", "accelerators", "mine")
MACHINE = ".".join(ACCELERATORS)


def tiny_run() -> Params:
    """A run beside which another may stand."""
    return {"dataset": "digits", "network": "vgg16", "levels": 4}


FAULTS = [
    Fault("unknown section", _set("datset", {}), "datset", "{}", "datasets"),
    Fault("unknown default", _set("defaults", "trian", {"epochs": 1}), "defaults.trian", "epochs", "'train'"),
    Fault("unknown key of training", _set("defaults", "train", "lr", 0.1), "defaults.train.lr", "0.1", "learning_rate"),
    Fault(
        "unknown augmentation",
        _set("defaults", "train", "augmentation", {"crp": 1}),
        "defaults.train.augmentation.crp",
        "1",
        "'crop'",
    ),
    Fault("unknown key of a run", _set(*RUN, "levles", 4), "runs.plain.levles", "4", "'levels'"),
    Fault("unknown key deep in a run", _set(*RUN, "verify", {"image": 1}), "runs.plain.verify.image", "1", "'images'"),
    Fault("unknown key of adapt", _set(*AL, "adapt", "cluster", 3), "runs.adaptive.adapt.cluster", "3", "'clusters'"),
    Fault(
        "unknown key of a data set",
        _set("datasets", "digits", "folder", "x"),
        "datasets.digits.folder",
        "'x'",
        "source",
    ),
    Fault(
        "unknown key of a cost",
        _set("defaults", "energy", "fp32", "ad_pj", 1),
        "defaults.energy.fp32.ad_pj",
        "1",
        "add_pj",
    ),
    Fault("network of an adaptive run", _set(*AL, "network", "vgg16"), "runs.adaptive.network", "'vgg16'", "from"),
    Fault(
        "text for a number",
        _set("defaults", "train", "epochs", "ten"),
        "defaults.train.epochs",
        "'ten'",
        "whole number",
    ),
    Fault(
        "a float for a whole number", _set("defaults", "train", "epochs", 2.5), "defaults.train.epochs", "2.5", "whole"
    ),
    Fault("levels 0", _set(*RUN, "levels", 0), "runs.plain.levels", "0", "whole number >= 1"),
    Fault("levels -1", _set(*RUN, "levels", -1), "runs.plain.levels", "-1", "whole number >= 1"),
    Fault("levels 4.0", _set(*RUN, "levels", 4.0), "runs.plain.levels", "4.0", "whole number >= 1"),
    Fault(
        "beyond floats",
        _set("defaults", "train", "learning_rate", 10**400),
        "defaults.train.learning_rate",
        "1000",
        "number",
    ),
    Fault("levels beyond float32", _set(*RUN, "levels", 10**30), "runs.plain.levels", f"{10**30}", "at most 8388608"),
    Fault(
        "a value beyond float32",
        _set(*AL, "adapt", "values", [4, 2, 2**23 + 1]),
        "runs.adaptive.adapt.values.2",
        "8388609",
        "at most 8388608",
    ),
    Fault("levels true", _set(*RUN, "levels", True), "runs.plain.levels", "True", "whole number >= 1"),
    Fault("a short list of levels", _set(*RUN, "levels", [4, 4]), "runs.plain.levels", "list of 2", "15"),
    Fault(
        "a level 0 in a list",
        _set(*AL, "adapt", {"levels": [4] * 14 + [0]}),
        "runs.adaptive.adapt.levels.14",
        "0",
        ">= 1",
    ),
    Fault(
        "a long list by hand",
        _set(*AL, "adapt", {"levels": [4] * 16}),
        "runs.adaptive.adapt.levels",
        "list of 16",
        "15",
    ),
    Fault(
        "a list beside clusters",
        _set(*AL, "adapt", {"levels": [4] * 15, "clusters": 2}),
        "runs.adaptive.adapt.clusters",
        "2",
        "one or the other",
    ),
    Fault(
        "more clusters than layers",
        _set(*AL, "adapt", {"clusters": 16, "values": list(range(1, 17))}),
        "runs.adaptive.adapt.clusters",
        "16",
        "15 layers",
    ),
    Fault(
        "values that do not match",
        _set(*AL, "adapt", {"clusters": 3, "values": [4, 1]}),
        "runs.adaptive.adapt.values",
        "[4, 1]",
        "3 levels",
    ),
    Fault(
        "the same value twice",
        _set(*AL, "adapt", "values", [4, 4, 1]),
        "runs.adaptive.adapt.values",
        "[4, 4, 1]",
        "different",
    ),
    Fault("k of all layers", _set(*AL, "adapt", "k", 15), "runs.adaptive.adapt.k", "15", "less than the 15 layers"),
    Fault("a default k of more", _set("defaults", "adapt", "k", 15.5), "runs.adaptive.adapt.k", "15.5", "15 layers"),
    Fault(
        "k of all bins",
        _set(*AL, "adapt", {"k": 5, "threshold_over": "bins"}),
        "runs.adaptive.adapt.k",
        "5",
        "less than the 5 bins of a layer at L=4",
    ),
    Fault(
        "k of the fewest bins of a list",
        _all(_set(*RUN, "levels", [8] * 14 + [1]), _set(*AL, "adapt", {"k": 2, "threshold_over": "bins"})),
        "runs.adaptive.adapt.k",
        "2",
        "less than the 2 bins of a layer at L=1",
    ),
    Fault(
        "frequencies of three bins",
        _all(_set(*RUN, "levels", 2), _set(*AL, "adapt", "moments", "frequencies")),
        "runs.adaptive.adapt.moments",
        "'frequencies'",
        "a layer at L=2 has 3 bins, frequencies need at least 4",
    ),
    Fault("from naming no run", _set(*AL, "from", "nobody"), "runs.adaptive.from", "'nobody'", "plain"),
    Fault(
        "from naming an adaptive run",
        _set("runs", "third", {"from": "adaptive", "adapt": {}}),
        "runs.third.from",
        "'adaptive'",
        "uniform run",
    ),
    Fault("a cycle of from", _cycle, "runs.a.from", "'b'", "a → b → a"),
    Fault("a run from itself", _set(*AL, "from", "adaptive"), "runs.adaptive.from", "'adaptive'", "no cycle"),
    Fault("p = 1", _set("defaults", "adapt", "p", 1), "defaults.adapt.p", "1", "in [0, 1)"),
    Fault("p = 0", _set(*AL, "adapt", "p", 0), "runs.adaptive.adapt.p", "0", "trained elsewhere"),
    Fault(
        "method of chance", _set(*AL, "adapt", "method", "chance"), "runs.adaptive.adapt.method", "'chance'", "reversed"
    ),
    Fault(
        "method of a list",
        _set(*AL, "adapt", {"levels": [4] * 15, "method": "random"}),
        "runs.adaptive.adapt.method",
        "'random'",
        "beside levels",
    ),
    Fault(
        "given without a list", _set(*AL, "adapt", {"method": "given"}), "runs.adaptive.adapt.levels", "none", "15, one"
    ),
    Fault("a plan of nothing", _set(*AL, "adapt", {"method": "plan"}), "runs.adaptive.adapt.budget", "none", "spend"),
    Fault(
        "a plan of too little", _planned(budget=14), "runs.adaptive.adapt.budget", "14", "at least 15: 15 layers of 1"
    ),
    Fault("a plan of words", _planned(budget="much"), "runs.adaptive.adapt.budget", "'much'", "'0.5 points'"),
    Fault("a negative budget", _planned(budget=-3), "runs.adaptive.adapt.budget", "-3", "a number > 0"),
    Fault("a plan of joules", _planned(budget=0.5, cost="joules"), "runs.adaptive.adapt.cost", "'joules'", "timesteps"),
    Fault(
        "the metric's energy",
        _planned(budget="metric", cost="energy"),
        "runs.adaptive.adapt.budget",
        "'metric'",
        "share",
    ),
    Fault(
        "points of few images",
        _planned(budget="0.5 points", images=600),
        "runs.adaptive.adapt.images",
        "600",
        "at least 800",
    ),
    Fault("few images", _planned(budget=0.5, images=20), "runs.adaptive.adapt.images", "20", "at least 32"),
    Fault(
        "a budget of the metric", _set(*AL, "adapt", "budget", 30), "runs.adaptive.adapt.budget", "30", "'plan' alone"
    ),
    Fault("hard tuning", _set(*AL, "adapt", "finetune", "hard"), "runs.adaptive.adapt.finetune", "'hard'", "gentle"),
    Fault(
        "gentle steps of Algorithm 4",
        _set(*AL, "adapt", "gentle", {"steps": 10}),
        "runs.adaptive.adapt.gentle",
        "'algorithm4'",
        "'gentle' alone",
    ),
    Fault(
        "epochs of a gentle tuning",
        _all(_set(*AL, "adapt", "finetune", "gentle"), _set(*AL, "train", {"epochs": 5})),
        "runs.adaptive.train.epochs",
        "5",
        "the start's last epoch",
    ),
    Fault("unknown data set", _set(*RUN, "dataset", "digit"), "runs.plain.dataset", "'digit'", "digits"),
    Fault("unknown source", _set("datasets", "mnist", {}), "datasets.mnist", "'mnist'", "cifar10"),
    Fault("mean without std", _set("datasets", "digits", "mean", [0.5, 0.5, 0.5]), "datasets.digits", "mean", "both"),
    Fault("unknown network", _set(*RUN, "network", "vgg17"), "runs.plain.network", "'vgg17'", "vgg16"),
    Fault(
        "width of a library's network",
        _set(*RUN, "network", "torchvision:squeezenet1_1"),
        "runs.plain.width",
        "0.0625",
        "expected none: torchvision:squeezenet1_1",
    ),
    Fault(
        "pool of a library's network",
        _all(_set(*RUN, "network", "torchvision:squeezenet1_1"), _set(*RUN, "pool", "avg")),
        "runs.plain.pool",
        "'avg'",
        "leave pool out",
    ),
    Fault("width 0", _set(*RUN, "width", 0), "runs.plain.width", "0", "> 0"),
    Fault(
        "a learning rate that is no number",
        _set("defaults", "train", "learning_rate", float("nan")),
        "defaults.train.learning_rate",
        "nan",
        "finite number > 0",
    ),
    Fault(
        "a negative cost",
        _set("defaults", "energy", "int8", "multiply_pj", -1),
        "defaults.energy.int8.multiply_pj",
        "-1",
        ">= 0",
    ),
    Fault(
        "pruning all weights",
        _set("defaults", "hardware", "weight_density", 0),
        "defaults.hardware.weight_density",
        "0",
        "in (0, 1]",
    ),
    Fault(
        "more weights than there are",
        _set(*RUN, "hardware", {"weight_density": 1.5}),
        "runs.plain.hardware.weight_density",
        "1.5",
        "in (0, 1]",
    ),
    Fault("no runs", _set("runs", {}), "runs", "{}", "at least one"),
    Fault("runs as a list", _set("runs", ["plain"]), "runs", "['plain']", "a mapping"),
    Fault("no seeds", _set("defaults", "seeds", []), "defaults.seeds", "[]", "a list"),
    Fault("the same seed twice", _set("defaults", "seeds", [0, 0]), "defaults.seeds", "[0, 0]", "different"),
    Fault("a negative seed", _set("defaults", "seeds", [-1]), "defaults.seeds.0", "-1", ">= 0"),
    Fault("seeds of one run", _set(*RUN, "seeds", [1]), "runs.plain.seeds", "[1]", "one of"),
    Fault("a run called tables", _set("runs", "tables", {}), "runs", "'tables'", "none of the folders"),
    Fault("a run with a dot", _set("runs", "a.b", {}), "runs", "'a.b'", "letters, digits"),
    Fault("a missing key", _drop(*RUN, "network"), "runs.plain.network", "missing", "vgg16"),
    Fault("a missing section", _drop("defaults", "hardware"), "defaults.hardware", "missing", "mapping"),
    Fault("a missing default", _drop("defaults", "train", "epochs"), "defaults.train.epochs", "missing", "fall back"),
    Fault(
        "warm-up as long as training",
        _set(*RUN, "train", {"epochs": 2, "warmup_epochs": 2}),
        "runs.plain.train.warmup_epochs",
        "2",
        "fewer",
    ),
    Fault("one epoch to adapt", _set(*AL, "train", {"epochs": 1}), "runs.adaptive.train.epochs", "1", "at least 2"),
    Fault(
        "no epochs to finetune weights of one's own",
        _set(
            "runs",
            {
                "own": {"dataset": "digits", "network": "vgg16", "levels": 4, "weights": "w", "train": {"epochs": 0}},
                "own-al": {"from": "own", "adapt": {"p": 0}},
            },
        ),
        "runs.own-al.train.epochs",
        "0",
        "at least 1: to finetune",
    ),
    Fault(
        "calibration of nothing", _set(*RUN, "calibrate", {}), "runs.plain.calibrate", "without weights", "a trained"
    ),
    Fault(
        "an unknown calibration",
        _set(*RUN, "calibrate", {"method": "median"}),
        "runs.plain.calibrate.method",
        "'median'",
        "percentile",
    ),
    Fault(
        "too few images to calibrate on",
        _all(_set(*RUN, "weights", "w"), _set(*RUN, "calibrate", {"images": 8})),
        "runs.plain.calibrate.images",
        "8",
        "at least 32",
    ),
    Fault(
        "training beside calibration",
        _all(_set(*RUN, "weights", "w"), _set(*RUN, "calibrate", {}), _set(*RUN, "train", {"epochs": 3})),
        "runs.plain.train.epochs",
        "3",
        "nothing is trained",
    ),
    Fault(
        "levels of a calibrated run that change",
        _all(_set(*RUN, "weights", "w"), _set(*RUN, "calibrate", {})),
        "runs.adaptive.from",
        "'plain'",
        "a run that is trained",
    ),
    Fault("no epochs without weights", _set(*RUN, "train", {"epochs": 0}), "runs.plain.train.epochs", "0", "weights"),
    Fault(
        "the best epoch of no images",
        _all(_set("datasets", "digits", "validation", 0), _set("defaults", "train", "selection", "best")),
        "runs.plain.train.selection",
        "'best'",
        "datasets.digits.validation is 0",
    ),
    Fault(
        "the best epoch of an adaptive run",
        _all(_set("datasets", "digits", "validation", 0), _set(*AL, "train", {"selection": "best"})),
        "runs.adaptive.train.selection",
        "'best'",
        "expected 'last'",
    ),
    Fault("an unknown device", _set("defaults", "device", "tpu"), "defaults.device", "'tpu'", "cuda"),
    Fault(
        "an unknown reading", _set("defaults", "adapt", "moments", "bins"), "defaults.adapt.moments", "'bins'", "levels"
    ),
    *[
        Fault(f"{path[-1]} of {name}", _set(*path, value), ".".join(path), told, expected)
        for name, path, value, told, expected in (
            ("1e30", (*RUN, "width"), 1e30, "1e+30", "at most 64"),
            ("1e300", ("defaults", "train", "learning_rate"), 1e300, "1e+300", "at most 1000"),
            ("1e308", ("defaults", "energy", "fp32", "add_pj"), 1e308, "1e+308", "at most 1000000000"),
            ("10**9", ("defaults", "energy", "fp32", "bits"), 10**9, "1000000000", "at most 1024"),
            ("10**12", ("defaults", "train", "batch_size"), 10**12, "1000000000000", "at most"),
            ("nothing", ("defaults", "energy"), {}, "{}", "at least one"),
            ("no machine", ("defaults", "hardware", "accelerators"), {}, "{}", "at least one"),
            ("a newline", (*RUN, "network"), "vgg16\n", "vgg16", "timm:<name>"),
            ("a library's path", (*RUN, "network"), "timm:../../x", "timm:../../x", "timm:<name>"),
            ("a newline", ("defaults", "device"), "cpu\n", "cpu", "cuda"),
            ("a number that is none", (*RUN, "width"), float("nan"), "nan", "finite number > 0"),
            ("1e-300", ("defaults", "train", "threshold"), 1e-300, "1e-300", ">= 1e-06"),
            ("infinity", ("defaults", "train", "learning_rate"), float("inf"), "inf", "at most 1000"),
            ("10**9", ("defaults", "train", "epochs"), 10**9, "1000000000", "at most 1000000"),
            ("10**6", ("defaults", "threads"), 10**6, "1000000", "at most 4096"),
            ("10**9", ("defaults", "workload", "timesteps"), 10**9, "1000000000", "at most 32"),
            ("nothing", ("defaults", "evaluate", "timesteps"), [], "[]", "a list"),
            ("0", ("defaults", "verify", "images"), 0, "0", ">= 1"),
            ("float16", ("defaults", "verify", "dtype"), "float16", "'float16'", "float64"),
            ("cuda:99999", ("defaults", "device"), "cuda:99999", "'cuda:99999'", "cuda:<number>"),
            ("1", ("defaults", "train", "momentum"), 1, "1", "in [0, 1)"),
            ("0", ("defaults", "train", "checkpoint_steps"), 0, "0", ">= 1"),
            ("-1", ("defaults", "train", "augmentation", "crop"), -1, "-1", ">= 0"),
            ("a number", (*RUN, "weights"), 5, "5", "the path of a safetensors file"),
            ("a mapping", (*RUN, "levels"), {}, "{}", "a whole number >= 1"),
            ("no mapping", ("datasets", "digits"), None, "None", "a mapping"),
            ("a list", ("runs", "plain"), [], "[]", "a mapping"),
            ("a list", (*AL, "from"), ["plain"], "['plain']", "the name of a uniform run"),
            ("a number", ("defaults", "seeds"), 3, "3", "a list of different whole numbers"),
            ("nothing", ("defaults",), None, "None", "a mapping"),
            ("a bound", ("extra",), 1, "1", "one of datasets, defaults, runs"),
        )
    ],
    Fault("seed 2**64", _set("defaults", "seeds", [2**64]), "defaults.seeds.0", f"{2**64}", f"at most {2**63 - 1}"),
    Fault("seed true", _set("defaults", "seeds", [True]), "defaults.seeds.0", "True", "whole number"),
    Fault(
        "timesteps of years",
        _set("defaults", "evaluate", "timesteps", [10**9]),
        "defaults.evaluate.timesteps.0",
        "1000000000",
        "at most 4096",
    ),
    Fault(
        "no spread",
        _set("datasets", "digits", {"mean": [0.5] * 3, "std": [1e-310, 1, 1]}),
        "datasets.digits.std.0",
        "1e-310",
        ">= 1e-06",
    ),
    Fault("negative bandwidth", _set(*ACCELERATORS, {"dram_gb_per_s": -1}), f"{MACHINE}.dram_gb_per_s", "-1", "> 0"),
    Fault(
        "a machine's base", _set(*ACCELERATORS, {"loas": {"base": "h1"}}), f"{MACHINE}.loas.base", "'h1'", "unknown key"
    ),
    Fault("an unknown base", _set(*ACCELERATORS, {"base": "pascal41"}), f"{MACHINE}.base", "pascal41", "pascal40"),
    Fault("an unknown key", _set(*ACCELERATORS, {"base": "h1", "pez": 64}), f"{MACHINE}.pez", "64", "'pes'"),
    Fault("a machine's key", _set(*ACCELERATORS, {"loas": {"pez": 64}}), f"{MACHINE}.loas.pez", "64", "'pes'"),
    Fault("an inner name", _set(*ACCELERATORS, {"name": "x"}), f"{MACHINE}.name", "'x'", "unknown key"),
    Fault("no elements", _set(*ACCELERATORS, {"pes": 0}), f"{MACHINE}.pes", "0", ">= 1"),
    Fault(
        "an odd chunk", _set(*ACCELERATORS, {"chunk": 3}), "runs.plain.hardware.accelerators.mine", "3", "power of two"
    ),
    *[
        Fault(f"a run called {name[:20]!r}", _set("runs", name, {}), "runs", name[:10].strip(), "letters, digits")
        for name in (
            "plain\n",
            "x" * 300,
            "mlartifacts",
            "MLartifacts",
            "Tables",
            "x;touch F;:",
            "$(touch F)",
            "a b",
            "-x",
        )
    ],
    Fault("a data set's name", _set("datasets", "x;touch F;:", {"source": "digits"}), "datasets", "touch F", "letters"),
    Fault("capitals alone", _set("runs", "Plain", {**tiny_run()}), "runs", "'Plain'", "more than capitals"),
]
