"""tables: the files of all runs → results/tables: CSV, Markdown and LaTeX, with the paper's numbers beside ours."""

from pathlib import Path

from lib.rows import measured_here, read_results
from lib.stage import stage
from pascal.cli import audit_networks
from pascal.energy import audit_rows
from pascal.report import TABLES, build_tables, write_table

with stage(snakemake) as report:
    results = read_results(report, Path("results"))
    tables = build_tables(results, audit_rows(audit_networks(), measured_here(results)))
    for name, table in tables.items():
        write_table(table, Path("results/tables", name), TABLES[name].caption)
