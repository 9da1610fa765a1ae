"""tables: the files of all runs → results/tables: CSV, Markdown and LaTeX, with the paper's numbers beside ours."""

from pathlib import Path

from pascal.audit import audit_rows
from pascal.audit.networks import audit_networks
from pascal.pipeline.rows import measured_here, metrics, read_results
from pascal.pipeline.stage import stage, write_json
from pascal.report.registry import plans
from pascal.report.tables import build_tables
from pascal.report.write import write_table

with stage(snakemake) as report:
    results = read_results(report, Path("results"))
    tables = build_tables(results, audit_rows(audit_networks(), measured_here(results)))
    for name, table in tables.items():
        write_table(table, Path("results/tables", name), plans("tables")[name].caption)
    numbers = metrics(results)
    for path in map(Path, snakemake.output.metrics):
        write_json(path, numbers[path.stem])
