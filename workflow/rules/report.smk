# Chapter: report. Tables and figures of all runs; the names are those of pascal.report, told here without importing it.

TABLES = [
    "accuracy",
    "adaptive",
    "timesteps",
    "energy",
    "energy_networks",
    "overhead",
    "overhead_layers",
    "hardware",
    "hardware_ratios",
    "operations",
    "audit",
    "missing",
]
ACROSS_RUNS = ["qcfs", "pasc_neuron", "spikes", "timesteps", "pareto_t_eff", "pareto_energy"]
PER_RUN = [
    "training",
    "histogram",
    "metric",
    "metric_threshold",
    "activity",
    "equivalence",
    "energy_components",
    "energy_sensitivity",
    "hardware_components",
    "hardware_sensitivity",
]
RESULT_FILES = [
    "accuracy.json",
    "verify.json",
    "levels.json",
    "energy.json",
    "train.csv",
    "accuracy_vs_timesteps.csv",
    "histogram.csv",
    "metric.csv",
    "metric_by_k.csv",
    "workload.csv",
    "activity.csv",
    "counts.csv",
    "energy.csv",
    "energy_sensitivity.csv",
    "ratios.csv",
    "hardware.csv",
    "hardware_comparison.csv",
    "hardware_sensitivity.csv",
]


rule tables:
    input:
        every(*RESULT_FILES),
        params="build/report.json",
        code=code_of("tables"),
    output:
        [
            report(f"results/tables/{name}.csv", caption=f"../report/tables/{name}.rst", category="Tables")
            for name in TABLES
        ],
        expand("results/tables/{name}.{kind}", name=TABLES, kind=["md", "tex"]),
    log:
        "logs/tables.log",
    benchmark:
        "logs/times/tables.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/tables.py"


rule figures:
    input:
        every(*RESULT_FILES),
        params="build/report.json",
        code=code_of("figures"),
    output:
        [
            report(f"results/figures/{name}.png", caption=f"../report/figures/{name}.rst", category="All runs")
            for name in ACROSS_RUNS
        ],
        expand("results/figures/{name}.pdf", name=ACROSS_RUNS),
    log:
        "logs/figures.log",
    benchmark:
        "logs/times/figures.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/figures.py"


rule run_figures:
    input:
        expand("results/{{run}}/{seed}/{file}", seed=SEEDS, file=RESULT_FILES),
        params="build/report/{run}.json",
        code=code_of("run_figures"),
    output:
        [
            report(
                f"results/figures/{{run}}/{name}.png",
                caption=f"../report/figures/{name}.rst",
                category="Runs",
                subcategory="{run}",
            )
            for name in PER_RUN
        ],
        expand("results/figures/{{run}}/{name}.pdf", name=PER_RUN),
    log:
        "logs/run_figures/{run}.log",
    benchmark:
        "logs/times/run_figures/{run}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/run_figures.py"


rule report:
    input:
        rules.tables.output,
        rules.figures.output,
        expand(rules.run_figures.output, run=RUNS),
        every("hardware_layers.csv"),


rule so_far:
    # No result is an input: nothing is computed, and it works beside a run that is still going on or has failed.
    input:
        params="build/report.json",
    log:
        "logs/so_far.log",
    benchmark:
        "logs/times/so_far.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/so_far.py"
