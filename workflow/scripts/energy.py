"""energy: workload.csv → joules by layer and component (energy.csv), Section 4.2's figures (energy.json), r_E by layer
(ratios.csv) and the assumptions under which the SNN wins (energy_sensitivity.csv)."""

from dataclasses import asdict

from pascal.energy import EnergyCosts, energy_rows, energy_summary, ratio_table, sensitivity
from pascal.files import write_rows
from pascal.pipeline.stage import read_rows, reading, stage, write_json
from pascal.workload import workloads_from_rows

with stage(snakemake) as params:
    with reading(snakemake.input.workload):
        workloads = workloads_from_rows(read_rows(snakemake.input.workload))
    costs = {name: EnergyCosts(**prices.model_dump()) for name, prices in params.energy.items()}
    rows = energy_rows(workloads, costs)
    write_rows(snakemake.output.rows, rows[0], rows)
    ratios, assumptions = ratio_table(workloads), [asdict(assumption) for assumption in sensitivity(workloads, costs)]
    write_rows(snakemake.output.ratios, ratios[0], ratios)
    write_rows(snakemake.output.sensitivity, assumptions[0], assumptions)
    write_json(snakemake.output.summary, energy_summary(workloads, costs))
