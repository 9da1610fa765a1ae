"""so_far: whatever the runs have left → work/so_far: tables and figures of it; they say what is missing, and why."""

import shutil
from pathlib import Path

from lib.rows import measured_here, read_results
from lib.stage import stage
from pascal.cli import audit_networks
from pascal.energy import audit_rows
from pascal.report import TABLES, build_figures, build_tables, save_figure, write_table

SO_FAR = Path("work/so_far")

with stage(snakemake) as report:
    results = read_results(report, Path("results"))
    shutil.rmtree(SO_FAR, ignore_errors=True)
    for folder in ("tables", "figures"):
        (SO_FAR / folder).mkdir(parents=True)
    for name, table in build_tables(results, audit_rows(audit_networks(), measured_here(results))).items():
        write_table(table, SO_FAR / "tables" / name, TABLES[name].caption)
    for name, figure in build_figures(results):
        save_figure(figure, SO_FAR / "figures" / name)
