"""tables: the files of all runs → results/tables: CSV, Markdown and LaTeX, with the paper's numbers beside ours."""

from pathlib import Path

from pascal.audit import audit_rows
from pascal.audit.networks import audit_networks
from pascal.files import write_text
from pascal.pipeline.rows import measured_here, metrics, read_results
from pascal.pipeline.stage import stage, write_json
from pascal.report.curves import curve_table
from pascal.report.registry import CURVES, plans
from pascal.report.tables import build_tables
from pascal.report.write import to_csv, write_table

with stage(snakemake) as report:
    results = read_results(report, Path("results"))
    tables = build_tables(results, audit_rows(audit_networks(), measured_here(results)))
    for name, table in tables.items():
        write_table(table, Path("results/tables", name), plans("tables")[name].caption)
    for path in map(Path, snakemake.output.curves):
        write_text(path, to_csv(curve_table(results, CURVES[path.stem])))
    numbers = metrics(results)
    for path in map(Path, snakemake.output.metrics):
        write_json(path, numbers[path.stem])
