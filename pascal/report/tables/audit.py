"""The audit of the paper's numbers, and the list of what is missing."""

import pandas as pd

from pascal.report.registry import table
from pascal.report.results import Results, overview
from pascal.report.rows import Rows, frame

_AUDIT = [
    "quantity",
    "network",
    "dataset",
    "levels",
    "reported",
    "equation",
    "authors_list",
    "measured",
    "difference",
    "agrees",
]
_AUDIT_MORE = ["counted", "latency_timesteps", "reason", "source"]


@table("The paper's numbers: as reported, from its equations, from the authors' lists, as measured here.")
def audit(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per number of the paper."""
    return audit_table(audit)


@table("Results that are not there, by run and seed; an empty table means that nothing is missing.")
def missing(results: Results, audit: Rows) -> pd.DataFrame:
    """One row per run and seed that lacks something."""
    return missing_table(overview(results))


def audit_table(audit: Rows) -> pd.DataFrame:
    """Every number of the paper: as reported, from the equations, from the authors' lists, as measured here, and why.

    Columns: those of `audit.audit_rows`; all text, digits as printed.
    """
    columns = [*_AUDIT, *_AUDIT_MORE]
    return frame(audit, columns, "audit", numbers=False)[columns]


def missing_table(runs: Rows) -> pd.DataFrame:
    """Runs and seeds whose results are not complete: run, seed, missing files, problem. Empty when all is there.

    Columns of `runs`: those of `overview`.
    """
    table = frame(runs, ["run", "seed", "missing", "problem"], "runs")
    incomplete = table[(table.missing != "") | (table.problem != "")]
    return incomplete[["run", "seed", "missing", "problem"]].reset_index(drop=True)
