"""track: the files of all runs → MLflow, in one process, so that a new database is created once."""

from pathlib import Path

from pascal.pipeline.commit import git_commit
from pascal.pipeline.masking import masked
from pascal.pipeline.sink import open_sink
from pascal.pipeline.stage import stage, write_json
from pascal.pipeline.store import tracking_uri
from pascal.pipeline.tracked import run_entry, stage_entries
from tqdm import tqdm

RESULTS = Path("results")

with stage(snakemake) as report, open_sink(tracking_uri()) as sink:
    commit, numbers = git_commit(), {}
    for run in tqdm(report.runs, "MLflow", unit="run", disable=None):
        parent = sink.put(run_entry(run, report.seeds, RESULTS, commit))
        for seed in report.seeds:
            for entry in stage_entries(run, seed, RESULTS, commit):
                sink.put(entry, parent)
        numbers[run.run] = parent
    write_json(snakemake.output[0], {"uri": masked(tracking_uri()), "runs": numbers})
