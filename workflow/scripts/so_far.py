"""so_far: whatever the runs have left → work/so_far: tables and figures of it; they say what is missing, and why."""

import shutil
from pathlib import Path

from pascal.audit import audit_rows
from pascal.audit.networks import audit_networks
from pascal.pipeline.rows import measured_here, read_results
from pascal.pipeline.stage import stage
from pascal.report.figures import build_figures
from pascal.report.registry import plans
from pascal.report.style import save_figure
from pascal.report.tables import build_tables
from pascal.report.write import write_table

SO_FAR = Path("work/so_far")

with stage(snakemake) as report:
    results = read_results(report, Path("results"))
    shutil.rmtree(SO_FAR, ignore_errors=True)
    for name, table in build_tables(results, audit_rows(audit_networks(), measured_here(results))).items():
        write_table(table, SO_FAR / "tables" / name, plans("tables")[name].caption)
    for name, figure in build_figures(results):
        save_figure(figure, SO_FAR / "figures" / name)
