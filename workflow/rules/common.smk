# Validates the parameters before anything else happens; then the run table and every helper of the rules.
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from lib.errors import ParameterError
from lib.locks import forget_dead_locks
from lib.params import load_params
from lib.runs import STAGES, run_table
from lib.stamps import code_stamp, digest, dump, write_if_changed

# `--configfile <preset>` stands in the place of params.yaml; merging the two would mix their runs.
PARAMS_FILE = Path((workflow.overwrite_configfiles or ["params.yaml"])[-1])
if workflow.config_settings.config:
    raise WorkflowError(
        f"--config {' '.join(f'{key}={value}' for key, value in workflow.config_settings.config.items())}: "
        f"parameters come from a file alone; edit {PARAMS_FILE}, or copy it and name the copy with --configfile"
    )
try:
    PARAMS = load_params(PARAMS_FILE, ROOT / "workflow" / "schemas" / "params.schema.yaml")
except ParameterError as error:
    raise WorkflowError(str(error))

forget_dead_locks(Path(".snakemake"))
RUNS = run_table(PARAMS)
SEEDS = PARAMS["defaults"]["seeds"]
DATASETS = PARAMS["datasets"]
HOME = "results/{run}/{seed}"

# The code whose edit makes a rule's result old.
_NETWORK = ["pascal/networks", "pascal/neurons/qcfs.py", "pascal/neurons/levels.py"]
_HELPERS = ["workflow/scripts/lib/models.py", "workflow/scripts/lib/stage.py"]
_COLUMNS = "workflow/scripts/lib/columns.py"
_TRAINING = ["workflow/scripts/lib/training.py", "workflow/scripts/lib/processes.py"]
_TRAIN = ["pascal/data", "pascal/training", *_TRAINING, *_NETWORK, *_HELPERS]
_SPIKING = [
    "pascal/data",
    "pascal/graph",
    "pascal/neurons",
    "pascal/networks",
    "pascal/workload.py",
    *_HELPERS,
]
_EVALUATE = ["pascal/training/evaluate.py", "workflow/scripts/lib/timesteps.py", *_SPIKING]
_WORKLOAD = [
    "pascal/energy/activity.py",
    "pascal/hardware/trace.py",
    "pascal/hardware/trace_file.py",
    "workflow/scripts/lib/activity.py",
    *_SPIKING,
]
CODE = {
    "prepare": ["pascal/data"],
    "train": _TRAIN,
    "retrain": _TRAIN,
    "finetune": _TRAIN,
    "histogram": ["pascal/adapt", "pascal/data", _COLUMNS, *_NETWORK, *_HELPERS],
    "assign": ["pascal/adapt", "workflow/scripts/lib/histograms.py", _COLUMNS],
    "given": [*_NETWORK, "pascal/adapt", _COLUMNS, *_HELPERS],
    "convert": _SPIKING,
    "verify": _SPIKING,
    "evaluate": _EVALUATE,
    "workload": _WORKLOAD,
    "energy": ["pascal/energy", "pascal/workload.py"],
    "hardware": ["pascal/hardware", "pascal/workload.py"],
    "tables": ["pascal/report", "pascal/energy", "pascal/cli.py", "workflow/scripts/lib/rows.py"],
    "figures": ["pascal/report", "workflow/scripts/lib/rows.py"],
    "run_figures": ["pascal/report", "workflow/scripts/lib/rows.py"],
}

for _rule, _parts in CODE.items():
    write_if_changed(Path(f"build/code/{_rule}.txt"), code_stamp(ROOT, _parts))
write_if_changed(Path("build/code/zoo.txt"), code_stamp(ROOT, ["pascal/graph"]))
for _dataset, _settings in DATASETS.items():
    write_if_changed(Path(f"build/datasets/{_dataset}.json"), dump(_settings))
for _run in RUNS.values():
    for _stage in STAGES:
        if _stage not in ("retrain", "finetune", "histogram", "assign") or _run.start:
            write_if_changed(Path(f"build/params/{_run.name}/{_stage}.json"), dump(_run.stage(_stage)))
_ENTRIES = {
    run.name: {
        "run": run.name,
        "start": run.start,
        "kind": run.kind,
        "source": DATASETS[run.settings["dataset"]].get("source", run.settings["dataset"]),
        "settings": run.settings,
    }
    for run in RUNS.values()
}
write_if_changed(Path("build/report.json"), dump({"seeds": SEEDS, "runs": list(_ENTRIES.values())}))
for _run, _entry in _ENTRIES.items():
    write_if_changed(Path(f"build/report/{_run}.json"), dump({"seeds": SEEDS, "runs": [_entry]}))


wildcard_constraints:
    run="|".join(RUNS),
    seed="|".join(map(str, SEEDS)),
    dataset="|".join(DATASETS),


def names(*kinds):
    """Runs of some kinds as a constraint; a pattern that matches nothing where there are none."""
    return "|".join(run.name for run in RUNS.values() if run.kind in kinds) or "(?!)"


def params_of(stage):
    """The file with the parameters that one stage of a run depends on."""
    return f"build/params/{{run}}/{stage}.json"


def code_of(stage):
    """The stamps of the code that a stage runs."""

    def stamps(wildcards):
        run = RUNS.get(getattr(wildcards, "run", None))
        zoo = stage in ("train", "retrain", "finetune", "given") and run and ":" in run.settings["network"]
        return [f"build/code/{stage}.txt", *(["build/code/zoo.txt"] if zoo else [])]

    return stamps


def data_of(wildcards):
    """The description of a run's data set."""
    return f"results/data/{RUNS[wildcards.run].settings['dataset']}.json"


def weights_of(wildcards):
    """The weights that a run starts from, if it names any."""
    return RUNS[wildcards.run].settings.get("weights", [])


def start_of(name):
    """A file of the run that an adaptive run starts from."""
    return lambda wildcards: f"results/{RUNS[wildcards.run].start}/{wildcards.seed}/{name}"


def every(*files):
    """The same files of all runs and seeds."""
    return [f"results/{run}/{seed}/{file}" for run in RUNS for seed in SEEDS for file in files]


def threads_of(wildcards):
    """Fixed by the parameters, never by --cores: another number of threads would give other bytes."""
    return RUNS[wildcards.run].settings["threads"]


def processes_of(wildcards):
    """How many processes train together."""
    return RUNS[wildcards.run].settings["train"].get("processes", 1)


def training_threads_of(wildcards):
    """Those of all processes."""
    return threads_of(wildcards) * processes_of(wildcards)


def gpus_of(wildcards):
    """One for a stage that computes on a GPU; the profile says how many there are."""
    return int(RUNS[wildcards.run].settings["device"] != "cpu")


def training_gpus_of(wildcards):
    """One for each process."""
    return gpus_of(wildcards) * processes_of(wildcards)


def megabytes(base, per_width=0):
    """Memory that a stage asks for; wide networks on large images need more."""
    return lambda wildcards: int(base + per_width * RUNS[wildcards.run].settings["width"])


def reuses(wildcards):
    """Whether a retraining is the beginning of its start's training, and may be taken from there."""
    run = RUNS[wildcards.run]
    return run.settings["adapt"]["reuse"] and run.stage("train") == RUNS[run.start].stage("train")


def kept_epochs(wildcards):
    """The fractions p at which other runs branch off this one's training, or may once they are added."""
    branches = [run for run in RUNS.values() if run.start == wildcards.run and run.settings["adapt"]["reuse"]]
    return sorted({PARAMS["defaults"]["adapt"]["p"], *(run.settings["adapt"]["p"] for run in branches)})
