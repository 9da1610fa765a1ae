# Validates the parameters before anything else happens; then the run table and every helper of the rules.
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

import pascal

ROOT = Path(workflow.basedir)
if Path(pascal.__file__).resolve().parents[1] != ROOT.resolve():
    raise WorkflowError(
        f"pascal is imported from {Path(pascal.__file__).parent}, expected {ROOT / 'pascal'}: results would be taken for "
        f"those of code that did not make them; install this folder (python -m pip install -e {ROOT}), or "
        f"set PYTHONPATH={ROOT}"
    )
from pascal.pipeline import manifest
from pascal.pipeline.canonical import dump
from pascal.pipeline.errors import ParameterError
from pascal.pipeline.fit import check_results
from pascal.pipeline.intact import PLAN, edited_since
from pascal.pipeline.locks import forget_dead_locks
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.files import write_parts
from pascal.pipeline.parameters.stages import stage_parts
from pascal.pipeline.parameters.weights import plannable
from pascal.pipeline.plan import write_plan
from pascal.pipeline.processes import announce_planner
from pascal.pipeline.records import text_digest
from pascal.pipeline.slurm import ask_who_knows
from pascal.pipeline.stamps import code_stamps, write_if_changed

# `--configfile <preset>` stands in the place of params.yaml; merging the two would mix their runs.
PARAMS_FILE = Path((workflow.overwrite_configfiles or ["params.yaml"])[-1])
if workflow.config_settings.config:
    raise WorkflowError(
        f"--config {' '.join(f'{key}={value}' for key, value in workflow.config_settings.config.items())}: "
        f"parameters come from a file alone; edit {PARAMS_FILE}, or copy it and name the copy with --configfile"
    )
try:
    PARAMS, LEFT_OUT = plannable(load_params(PARAMS_FILE), PARAMS_FILE)
except ParameterError as error:
    raise WorkflowError(str(error))
for _note in LEFT_OUT:
    print(_note, file=sys.stderr)

forget_dead_locks(Path(".snakemake"))
announce_planner()
RUNS, SEEDS, DATASETS = PARAMS.runs, PARAMS.seeds, PARAMS.datasets
HOME = "results/{run}/{seed}"

CODE = code_stamps(ROOT, Path("build/memory/code.json"))
# What stages are asked for now: the digest of every file of parameters and code that this plan has. Jobs of a cluster,
# which read these rules as well, find the files there.
STAMPS = {f"build/code/{stage}.txt": text_digest(code) for stage, code in CODE.items()}
if workflow.is_main_process:
    for _stage, _code in CODE.items():
        write_if_changed(Path(f"build/code/{_stage}.txt"), _code)
    STAMPS |= {path: text_digest(text) for path, text in write_parts(PARAMS).items()}
for _run in RUNS.values():
    for _stage in ("retrain", *manifest.STAGES):  # retraining is the first part of finetuning
        if _run.kind not in manifest.STAGES["finetune" if _stage == "retrain" else _stage].kinds:
            STAMPS.pop(f"build/params/{_run.name}/{_stage}.json", None)

# Results that do not fit their records count as missing: Snakemake itself never compares a file with what its rule made.
UNFIT = {}
if workflow.is_main_process:
    _fit = check_results(STAMPS)
    UNFIT = _fit.faults()
    write_plan(PARAMS, CODE, _fit.digest)  # what DVC's stages depend on
    for _path in [path for path, fault in UNFIT.items() if fault.startswith("other bytes")][:20]:
        print(f"{_path}: {UNFIT[_path]}; it counts as missing", file=sys.stderr)


wildcard_constraints:
    run="|".join(RUNS),
    seed="|".join(map(str, SEEDS)),
    dataset="|".join(DATASETS),


def names(*kinds):
    """Runs of some kinds as a constraint; a pattern that matches nothing where there are none."""
    return "|".join(run.name for run in RUNS.values() if run.kind in kinds) or "(?!)"


def results_of(stage):
    """The outputs of a stage, by the names that its script knows."""
    return {name: f"{HOME}/{file.path}" for name, file in manifest.STAGES[stage].files.items()}


def params_of(stage):
    """The file with the parameters that one stage of a run depends on."""
    return f"build/params/{{run}}/{stage}.json"


def code_of(stage):
    """The stamp of the code that a stage runs; stages of all runs are taken to run whatever any run does."""

    def stamp(wildcards):
        workflow.dag.forcefiles.update(UNFIT)  # here, for the graph of jobs exists once inputs are asked for
        run = RUNS.get(getattr(wildcards, "run", None))
        others = run is None or ":" in run.settings.network or run.kind == "calibrated"
        library = f"{stage}-library" in CODE and others
        return f"build/code/{stage}{'-library' if library else ''}.txt"

    return stamp


def data_of(wildcards):
    """The description of a run's data set."""
    return f"results/data/{RUNS[wildcards.run].settings.dataset}.json"


def weights_of(wildcards):
    """The weights that a run starts from, if it names any."""
    return RUNS[wildcards.run].settings.weights or []


def start_of(name):
    """A file of the run that an adaptive run starts from; a uniform one starts from itself."""
    return lambda wildcards: f"results/{RUNS[wildcards.run].start or wildcards.run}/{wildcards.seed}/{name}"


def threads_of(wildcards):
    """Fixed by the parameters, never by --cores: another number of threads would give other bytes."""
    return RUNS[wildcards.run].settings.threads


def processes_of(wildcards):
    """How many processes train together."""
    return RUNS[wildcards.run].settings.train.processes


def training_threads_of(wildcards):
    """Those of all processes."""
    return threads_of(wildcards) * processes_of(wildcards)


def gpus_of(wildcards):
    """One for a stage that computes on a GPU; the profile says how many there are."""
    return int(RUNS[wildcards.run].settings.device != "cpu")


def training_gpus_of(wildcards):
    """One for each process."""
    return gpus_of(wildcards) * processes_of(wildcards)


def megabytes(base, per_width=0, copies=lambda wildcards: 1):
    """Memory that a stage asks for; wide networks on large images need more, and so does each further attempt."""

    def asked(wildcards, attempt):
        width = RUNS[wildcards.run].settings.width if per_width else 0
        return attempt * copies(wildcards) * int(base + per_width * width)

    return asked


def minutes(most):
    """Time that a stage asks for; an attempt that ran out of it is given more, and a training goes on where it was."""
    return lambda wildcards, attempt: attempt * most


def reuses(wildcards):
    """Whether a retraining is the beginning of its start's training, and may be taken from there."""
    run = RUNS[wildcards.run]
    own, start = (stage_parts(each.settings)["train"] for each in (run, RUNS[run.start]))
    return run.settings.adapt.reuse and own == start


def retrains(wildcards):
    """Whether a run trains with uniform levels before its own; others go on from the end of their start's training."""
    return RUNS[wildcards.run].settings.adapt.finetune == "algorithm4"


def retrained(file, otherwise=lambda wildcards: []):
    """A file of the retraining, where a run has one."""
    return lambda wildcards: file if retrains(wildcards) else otherwise(wildcards)


def kept_epochs(wildcards):
    """The fractions p at which other runs branch off this one's training, or may once they are added."""
    branches = [run for run in RUNS.values() if run.start == wildcards.run and run.settings.adapt.reuse]
    return sorted({PARAMS.defaults.adapt.p, *(run.settings.adapt.p for run in branches)})


def reported(run):
    """The files of a run that tables and figures see."""
    files = [file.path for file in manifest.reported_files(RUNS[run].kind).values()]
    return expand("results/{run}/{seed}/{file}", run=run, seed=SEEDS, file=files)


def shown(stems, ending, **place):
    """Outputs with their captions on the page of `snakemake --report`."""
    for stem, plan in stems.items():
        caption = Path("build/captions", *Path(stem).parts[1:2], f"{plan.name}.rst").resolve()
        write_if_changed(caption, f"{plan.caption}\n")
        yield report(f"{stem}.{ending}", caption=caption, **place)
