# Chapter: report. Tables and figures of all runs: what their decorators in pascal/report say of them.

from pascal.report.registry import CURVES

TABLES = manifest.outputs("tables")
FIGURES = manifest.outputs("figures")


rule tables:
    input:
        [reported(run) for run in RUNS],
        params="build/report.json",
        code=code_of("tables"),
    output:
        *shown(TABLES, "html", category="Tables"),
        expand("{stem}.{kind}", stem=TABLES, kind=["csv", "md", "tex"]),
        curves=[manifest.CURVES / f"{name}.csv" for name in CURVES],
        metrics=[manifest.METRICS / f"{run}.json" for run in RUNS],
    log:
        "logs/tables.log",
    benchmark:
        "logs/times/tables.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=megabytes(2000),
        runtime=minutes(30),
    script:
        "../scripts/tables.py"


rule figures:
    input:
        [reported(run) for run in RUNS],
        params="build/report.json",
        code=code_of("figures"),
    output:
        *shown(FIGURES, "png", category="All runs"),
        expand("{stem}.pdf", stem=FIGURES),
    log:
        "logs/figures.log",
    benchmark:
        "logs/times/figures.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=megabytes(2000),
        runtime=minutes(30),
    script:
        "../scripts/figures.py"


for KINDS, STEMS in manifest.run_figures("{run}").items():

    rule:
        name:
            "run_figures" if KINDS == manifest.KINDS else f"run_figures_{'_'.join(KINDS)}"
        input:
            lambda wildcards: reported(wildcards.run),
            params="build/report/{run}.json",
            code=code_of("run_figures"),
        output:
            *shown(STEMS, "png", category="Runs", subcategory="{run}"),
            expand("{stem}.pdf", stem=STEMS),
        log:
            f"logs/run_figures/{{run}}-{'_'.join(KINDS)}.log",
        benchmark:
            f"logs/times/run_figures/{{run}}-{'_'.join(KINDS)}.tsv"
        wildcard_constraints:
            run=names(*KINDS),
        conda:
            "../envs/pascal.yaml"
        threads: 1
        resources:
            mem_mb=megabytes(2000),
            runtime=minutes(30),
        params:
            kinds=KINDS,
        script:
            "../scripts/run_figures.py"


rule report:
    # every result file: whichever is deleted is made again
    input:
        rules.tables.output,
        rules.figures.output,
        [
            f"{stem}.{ending}"
            for run in RUNS.values()
            for stem in manifest.outputs("figures", run.name, run.kind)
            for ending in ("png", "pdf")
        ],
        [
            f"results/{run.name}/{seed}/{file.path}"
            for run in RUNS.values()
            for seed in SEEDS
            for file in manifest.files_of(run.kind).values()
        ],
        expand("results/data/{dataset}.json", dataset={run.settings.dataset for run in RUNS.values()}),


if workflow.is_main_process:
    write_if_changed(PLAN, dump({"stamps": STAMPS, "results": list(map(str, rules.report.input))}))


rule plan:
    # Parameters are checked and stamps written when Snakemake reads its rules: there is nothing left to do.
    input:
        [],


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
        mem_mb=megabytes(2000),
        runtime=minutes(30),
    script:
        "../scripts/so_far.py"
