"""What the pipeline makes: per stage its files, and what they hold. Rules, report, MLflow and DVC read it here.

A stage's output is a line of STAGES; tables and figures say of themselves which of these files they see
(`pascal.report.registry`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pascal.pipeline.records import RECORDS
from pascal.report.registry import KINDS, Plan, Section, plans

RESULTS = Path("results")
METRICS = RESULTS / "metrics"  # a file for each run, means over seeds: the rows of `dvc metrics show`
CURVES = RESULTS / "plots"  # of all runs: what `dvc plots` draws
ALL = ("*",)
ADAPTIVE = tuple(kind for kind in KINDS if kind not in ("uniform", "calibrated"))


@dataclass(frozen=True)
class File:
    """One file of a run and seed. `columns` are those that readers of a CSV file rely on, `keys` of a JSON file."""

    path: str
    columns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    name: str = ""  # in the report; without one that of the file
    curves: Mapping[str, str] = field(default_factory=dict)  # column → MLflow's name, over the first column
    metrics: tuple[str, ...] = ()  # MLflow's: columns of a CSV file by its first three cells, ALL of a JSON file

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or Path(self.path).stem)


@dataclass(frozen=True)
class Stage:
    """The files of one stage by the names that its script knows, the kinds of run that have it, its part in MLflow."""

    files: Mapping[str, File]
    kinds: tuple[str, ...] = KINDS
    tracked: str = ""


_EPOCHS = ("loss", "train_accuracy", "validation_accuracy", "learning_rate", "threshold_min", "threshold_max")
_TRAINED = {
    "ann": File("ann.safetensors"),
    "curve": File("train.csv", columns=("epoch", *_EPOCHS), curves={name: name for name in (*_EPOCHS, "seconds")}),
}
_TUNED = ("method", "finetune", "before_accuracy", "after_accuracy", "kept")
_CALIBRATED = ("path", "correction", "before", "after", "note")
_LEVELS = File("levels.json")
_ACCURACIES = ("ann_accuracy", "snn_accuracy", "images", "prediction_mismatches")
_CERTIFICATE = ("images", "neurons", "count_mismatches", "prediction_mismatches", "max_logit_error")
_MACHINE = ("preset", "machine", "neuron")
_SIMULATED = ("cycles", "latency_ms_per_image", "energy_uj_per_image", "energy_uj_per_image_without_dram")
_COMPARED = ("accuracy", "agreement", "total_timesteps", "sequential_timesteps", "synaptic_operations")
_RATIOS = ("ann_over_snn_compute", "ann_over_snn_on_chip", "ann_over_snn_with_dram")

STAGES: dict[str, Stage] = {
    "train": Stage(_TRAINED, kinds=("uniform",), tracked="train"),
    "calibrate": Stage(
        {"ann": File("ann.safetensors"), "layers": File("calibration.csv", columns=_CALIBRATED)},
        kinds=("calibrated",),
        tracked="train",
    ),
    "finetune": Stage(
        {**_TRAINED, "compared": File("finetune.json", keys=_TUNED, metrics=ALL)}, kinds=ADAPTIVE, tracked="train"
    ),
    "histogram": Stage({"histogram": File("histogram.csv", columns=("layer", "level", "count"))}, tracked="assign"),
    "assign": Stage(
        {
            "metric": File("metric.csv", columns=("layer", "agreement", "skewness", "kurtosis", "metric", "level")),
            "by_k": File("metric_by_k.csv", columns=("moments", "k", "layer", "metric")),
            "levels": _LEVELS,
        },
        kinds=("derived",),
        tracked="assign",
    ),
    "plan_levels": Stage(
        {
            "plan": File("plan.json", keys=("cost", "start_cost", "unit", "agreement", "kept", "layers"), metrics=ALL),
            "layers": File("plan_layers.csv", columns=("layer", "levels", "loss_of_fewer", "error_of_fewer")),
            "beside": File("plan_beside.csv", columns=("name", "cost", "loss", "loss_error", "agreement")),
            "levels": _LEVELS,
        },
        kinds=("planned",),
        tracked="assign",
    ),
    "given": Stage({"levels": _LEVELS}, kinds=("uniform", "calibrated", "given"), tracked="assign"),
    "convert": Stage(
        {"snn": File("snn.safetensors"), "about": File("snn.json", keys=("levels", "timesteps"), name="conversion")}
    ),
    "verify": Stage({"certificate": File("verify.json", keys=_CERTIFICATE, metrics=ALL)}, tracked="verify"),
    "evaluate": Stage(
        {
            "accuracy": File("accuracy.json", keys=_ACCURACIES, metrics=ALL),
            "over_timesteps": File(
                "accuracy_vs_timesteps.csv",
                columns=("timesteps", "accuracy", "images", "ann_accuracy"),
                curves={"accuracy": "plain_if_accuracy"},
            ),
        },
        tracked="evaluate",
    ),
    "workload": Stage(
        {
            "workload": File("workload.csv", columns=("path", "kind", "macs", "activation", "levels", "neurons")),
            "activity": File("activity.csv", columns=("activation", "timestep", "firing")),
            "counts": File("counts.csv", columns=("neuron", "ann_count", "snn_count", "neurons")),
            "pasc": File("trace_pasc.npz"),
            "plain": File("trace_if.npz"),
        }
    ),
    "energy": Stage(
        {
            "rows": File("energy.csv", columns=("costs", "network", "path", "memory_pj", "total_pj")),
            "summary": File("energy.json", keys=("t_eff", "t_total"), name="energy_summary", metrics=ALL),
            "ratios": File("ratios.csv", columns=("activation", "timesteps", "levels", "energy_ratio")),
            "sensitivity": File("energy_sensitivity.csv", columns=("costs", "memory", "ann_pj", "snn_pj")),
        },
        tracked="energy",
    ),
    "hardware": Stage(
        {
            "rows": File("hardware.csv", columns=(*_MACHINE, "overlap", *_SIMULATED), metrics=_SIMULATED),
            "layers": File("hardware_layers.csv", columns=(*_MACHINE, "path", "cycles")),
            "comparison": File("hardware_comparison.csv", columns=("quantity", "measured", "low", "high", "reported")),
            "sensitivity": File("hardware_sensitivity.csv", columns=("parameter", "value", *_RATIOS)),
        },
        tracked="hardware",
    ),
    "compare": Stage(
        {
            "rows": File(
                "compare.csv", columns=("method", "label", "answer", "levels", "pooling", *_COMPARED, "problem")
            ),
            "summary": File("compare.json", keys=("ann_accuracy",), name="compare_summary", metrics=ALL),
        },
        tracked="compare",
    ),
}


def files_of(kind: str) -> dict[str, File]:
    """Every file of a run of this kind, by its name in the report."""
    stages = [stage for stage in STAGES.values() if kind in stage.kinds]
    return {file.name: file for stage in stages for file in stage.files.values()}


def reported_files(kind: str) -> dict[str, File]:
    """Those that a table or a figure of such a run sees."""
    seen = {name for plan in _plans() if kind in plan.kinds for name in plan.files}
    known = files_of(kind)
    return {name: known[name] for name in sorted(seen & known.keys())}


def outputs(section: Section, run: str = "", kind: str = "") -> dict[str, Plan]:
    """Paths without endings of the tables, of the figures over all runs, or of one run's figures."""
    chosen = {name: plan for name, plan in plans(section).items() if plan.per_run == bool(run)}
    folder = RESULTS / section / run
    return {str(folder / name): plan for name, plan in chosen.items() if not run or kind in plan.kinds}


def left_over(run: str, kind: str, seeds: Iterable[int]) -> set[Path]:
    """Files of a run that only another kind of run has: it was of that kind once, and they tell of it no more."""
    homes = [RESULTS / run / str(seed) for seed in seeds]
    others = [name for name, stage in STAGES.items() if kind not in stage.kinds]
    files = {file.path for name in others for file in STAGES[name].files.values()}
    files -= {file.path for file in files_of(kind).values()}
    figures = {stem for other in KINDS for stem in outputs("figures", run, other)} - outputs(
        "figures", run, kind
    ).keys()
    made = {home / name for home in homes for name in (*files, *(f"{RECORDS}/{stage}.json" for stage in others))}
    return {
        path
        for path in (*made, *(Path(f"{stem}.{end}") for stem in figures for end in ("png", "pdf")))
        if path.exists()
    }


def run_figures(run: str) -> dict[tuple[str, ...], dict[str, Plan]]:
    """A run's figures by the kinds of run that have them: a rule for each, since a rule's outputs are fixed."""
    per_run = {name: plan for name, plan in plans("figures").items() if plan.per_run}
    return {
        kinds: {str(RESULTS / "figures" / run / name): plan for name, plan in per_run.items() if plan.kinds == kinds}
        for kinds in sorted({plan.kinds for plan in per_run.values()})
    }


def _plans() -> Iterator[Plan]:
    yield from plans("tables").values()
    yield from plans("figures").values()
