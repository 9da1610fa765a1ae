"""track: the files of all runs → MLflow, in one process, so that a new database is created once."""

from pathlib import Path

from pascal.pipeline.commit import git_commit
from pascal.pipeline.sink import MlflowException, Sink, unreachable
from pascal.pipeline.stage import stage, write_json
from pascal.pipeline.tracked import run_entry, stage_entries
from tqdm import tqdm

RESULTS = Path("results")

with stage(snakemake) as report:
    try:
        sink, commit, numbers = Sink(snakemake.params.uri, RESULTS / "mlartifacts"), git_commit(), {}
        for run in tqdm(report.runs, "MLflow", unit="run", disable=None):
            parent = sink.put(run_entry(run, report.seeds, RESULTS, commit))
            for seed in report.seeds:
                for entry in stage_entries(run, seed, RESULTS, commit):
                    sink.put(entry, parent)
            numbers[run.run] = parent
    except MlflowException as error:
        raise unreachable(snakemake.params.uri, error) from error
    write_json(snakemake.output[0], {"uri": snakemake.params.uri, "runs": numbers})
